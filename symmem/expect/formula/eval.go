package formula

import (
	"fmt"
	"math"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Values returns the elements of tensors. Eval asks at most once for a name on a rank.
type Values interface {
	// Get returns the elements of a rank's tensor, which are not changed before Eval has returned.
	Get(rank int, name string) (Numbers, error)
}

// Numbers are the elements of a tensor: Floats of a floating type, and Ints of the other types. An
// element of u64 is held as the int64 with the same bits, a bool as 0 or 1.
type Numbers struct {
	Floats []float64
	Ints   []int64
}

// Len returns the number of elements.
func (x Numbers) Len() int { return max(len(x.Floats), len(x.Ints)) }

// EvalError is a failure to calculate an element.
type EvalError struct {
	Text   string // the formula
	Column int    // of the part that failed, in characters from 1 on; 1 for the result
	Rank   int    // whose result it is
	Index  int    // of the element
	Msg    string
	Err    error // of Values, nil for others
}

// Error returns the message with the column, the rank and the index.
func (e *EvalError) Error() string {
	return fmt.Sprintf("formula %q, column %d, rank %d, element %d: %s", e.Text, e.Column, e.Rank, e.Index, e.Msg)
}

// Unwrap returns the error of Values.
func (e *EvalError) Unwrap() error { return e.Err }

// env is the state of an Eval.
type env struct {
	f     *Formula
	v     Values
	owner int // the rank of the result
	rank  int // as which the part is calculated
	size  int
	i, n  int64
	vars  []int64
	held  []*Numbers // by rank and name
	steps int64      // operations so far
	limit int64
}

// Eval calculates the n elements of a rank's result, of a world of size ranks, as elements of a type.
// Floats and integers are rounded to the values of a floating type. A value that the type does not
// have otherwise is an *EvalError: a finite float beyond the largest one, an integer out of range.
// Other errors are *EvalErrors too, and those of Fits.
func (f *Formula) Eval(v Values, t Type, rank, size, n int) (Numbers, error) {
	return f.within(maxSteps, v, t, rank, size, n)
}

// within is Eval with a limit of operations.
func (f *Formula) within(limit int64, v Values, t Type, rank, size, n int) (out Numbers, err error) {
	if err := f.Fits(t); err != nil {
		return Numbers{}, err
	}
	if size < 1 || rank < 0 || rank >= size || n < 0 {
		return Numbers{}, fmt.Errorf("formula %q: there is no result of %s on rank %d of %d", f.text, count.Of(n, "element"), rank, size)
	}
	e := &env{f: f, v: v, owner: rank, rank: rank, size: size, n: int64(n), limit: limit,
		vars: make([]int64, f.vars), held: make([]*Numbers, size*len(f.names))}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *EvalError:
			out, err = Numbers{}, fault
		default:
			panic(fault)
		}
	}()
	if int64(n) > limit { // before memory is taken
		e.spend(1, int64(n))
	}
	if t.IsFloat() {
		out.Floats = make([]float64, n)
	} else {
		out.Ints = make([]int64, n)
	}
	for i := range n {
		e.i = int64(i)
		e.spend(1, f.root.cost)
		x := element.Number{Class: element.Signed}
		switch f.root.class {
		case floating:
			x.Class, x.Float = element.Floating, f.root.real(e)
		case unsigned:
			x.Class, x.Uint = element.Unsigned, uint64(f.root.whole(e))
		default:
			x.Int = f.root.whole(e)
		}
		if bits := e.stored(x, t); t.IsFloat() {
			out.Floats[i] = t.Float(bits)
		} else {
			out.Ints[i] = t.Integer(bits)
		}
	}
	return out, nil
}

// stored returns the bits of an element with a value of the result.
func (e *env) stored(x element.Number, t Type) uint64 {
	if t.IsFloat() && x.Class != element.Floating { // rounded once, unless it is too large
		if bits := t.Convert(x); !math.IsInf(t.Float(bits), 0) && t.Float(bits) == t.Float(bits) {
			return bits
		}
		x = element.Number{Class: element.Floating, Float: element.F64.Float(element.F64.Convert(x))}
	}
	bits, why := t.Encode(x)
	if why != "" {
		e.fail(1, "%s: %v(…) around the formula converts it", why, t)
	}
	return bits
}

// tensor returns the elements of a tensor on the rank as which the part is calculated.
func (e *env) tensor(column, slot int) *Numbers {
	at := e.rank*len(e.f.names) + slot
	if x := e.held[at]; x != nil {
		return x
	}
	name := e.f.names[slot]
	x, err := e.v.Get(e.rank, name.Name)
	if err != nil {
		panic(&EvalError{Text: e.f.text, Column: column, Rank: e.owner, Index: int(e.i),
			Msg: fmt.Sprintf("%s of rank %d: %v", name.Name, e.rank, err), Err: err})
	}
	if len(x.Ints) > 0 && name.Type.IsFloat() || len(x.Floats) > 0 && !name.Type.IsFloat() {
		e.fail(column, "%s of rank %d is not %v, as it was declared", name.Name, e.rank, name.Type)
	}
	e.held[at] = &x
	return &x
}

// outside fails for an index that a tensor does not have.
func (e *env) outside(column, slot int, k int64, n int) {
	whose := ""
	if e.rank != e.owner {
		whose = fmt.Sprintf(" of rank %d", e.rank)
	}
	e.fail(column, "%s%s has %s, and the index is %d", e.f.names[slot].Name, whose, count.Of(n, "element"), k)
}

// spend counts operations, and fails if there are too many.
func (e *env) spend(column int, steps int64) {
	if e.steps += steps; e.steps > e.limit {
		e.fail(column, "the formula takes more than %d operations: shorten its sums, or the tensors", e.limit)
	}
}

// fail ends the Eval.
func (e *env) fail(column int, format string, args ...any) {
	panic(&EvalError{Text: e.f.text, Column: column, Rank: e.owner, Index: int(e.i), Msg: fmt.Sprintf(format, args...)})
}
