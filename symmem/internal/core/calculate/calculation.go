package calculate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Device describes the device for which calculations are planned.
type Device struct {
	Host       bool // it is the cpu device
	Processors int
	Tuned      *tuning.Plan
}

// Operand is an operand of a kernel, or the result.
type Operand struct {
	Type   element.Type // of a tensor; expression.Integer or expression.Float of a number
	Access Access

	Shape []int      // of a tensor
	N     int        // the elements of that
	At    device.Ptr // its address
	Bits  uint64     // of a number
}

// Constant returns the operand for a Go number.
func Constant(n element.Number) Operand {
	switch {
	case n.Class == element.Floating:
		return Operand{Type: expression.Float, Access: Number, Bits: math.Float64bits(n.Float)}
	case n.Class == element.Unsigned && n.Uint > math.MaxInt64:
		return Operand{Type: element.U64, Access: Number, Bits: n.Uint}
	case n.Class == element.Unsigned:
		return Operand{Type: expression.Integer, Access: Number, Bits: n.Uint}
	}
	return Operand{Type: expression.Integer, Access: Number, Bits: uint64(n.Int)}
}

// kind is "bf16[4, 1024]".
func (o *Operand) kind() string { return o.Type.Shaped(o.Shape) }

// overlaps reports whether two tensors share bytes.
func (o *Operand) overlaps(p *Operand) bool {
	end := func(t *Operand) device.Ptr { return t.At + device.Ptr(t.N*t.Type.Size()) }
	return o.At < end(p) && p.At < end(o)
}

// Calculation is a formula with its operands.
type Calculation struct {
	Formula  *expression.Checked
	Operands []Operand
	on       Device
	key      []byte // of the formula with the types of the operands
}

// Cache holds the formulas and the kernels of a world.
type Cache struct {
	mu       sync.Mutex
	formulas map[string]*expression.Checked // by the text and the types of the operands
	kernels  map[string]device.Module       // by the key of formulas and the accesses of operands
}

// Bind checks a formula with its operands. A fault is a [seam.Refusal].
func (k *Cache) Bind(formula string, operands []Operand, reduces bool, on Device) (*Calculation, error) {
	c := &Calculation{Operands: operands, on: on, key: []byte(formula)}
	var types []expression.Operand
	for _, o := range operands {
		types = append(types, expression.Operand{Type: o.Type, Number: o.Access == Number})
		c.key = append(c.key, 0, byte(o.Type), byte(o.Access))
	}
	if len(types) > expression.MaxOperands {
		return nil, seam.Misuse("", "calculate in two steps", "%d operands are more than %d", len(types), expression.MaxOperands)
	}
	f, err := k.formula(formula, c.key, types)
	if err != nil {
		var wrong *expression.Error
		errors.As(err, &wrong)
		return nil, seam.Misuse("formula", wrong.Hint, "character %d of %q: %s", wrong.At+1, formula, wrong.Msg)
	}
	c.Formula = f
	switch {
	case reduces && !f.Tree.Reduces():
		return nil, seam.Misuse("formula", `write one such as "sum(x0)", or call Map`, "the formula %q has no reduction", formula)
	case !reduces && f.Tree.Reduces():
		return nil, seam.Misuse("formula", "call Reduce", "the formula %q reduces", formula)
	}
	if n := f.Tree.Operands; n < len(types) {
		return nil, seam.Misuse(fmt.Sprintf("x%d", n), "leave it out, or use it", "the formula %q has no operand x%d", formula, n)
	}
	for _, fit := range f.Fits {
		n := element.Number{Class: element.Signed, Int: int64(operands[fit.Operand].Bits)}
		if _, why := fit.As.Encode(n); why != "" {
			return nil, seam.Misuse(fmt.Sprintf("x%d", fit.Operand), "convert the tensor: Convert(symm.I64)", "%s", why)
		}
	}
	return c, nil
}

// formula parses and checks a formula, or finds it in the cache.
func (k *Cache) formula(text string, key []byte, types []expression.Operand) (*expression.Checked, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.formulas[string(key)]; f != nil {
		return f, nil
	}
	tree, err := expression.Parse(text)
	if err != nil {
		return nil, err
	}
	f, err := tree.Check(types)
	if err != nil {
		return nil, err
	}
	if k.formulas == nil {
		k.formulas, k.kernels = map[string]*expression.Checked{}, map[string]device.Module{}
	}
	k.formulas[string(key)] = f
	return f, nil
}

// Kernels returns the kernels of a plan. The first call makes their text and compiles it.
func (k *Cache) Kernels(p *Plan, compile func(device.Source) (device.Module, error)) (device.Module, error) {
	k.mu.Lock()
	m := k.kernels[string(p.key)]
	k.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := compile(device.Source{Name: "formula", Line: 1, Text: p.text()})
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kernels[string(p.key)] = m
	return m, nil
}

// Fits refuses the memory of a result that has another shape, or whose elements do not hold the
// result. into is nil if the result is a new tensor.
func (c *Calculation) Fits(into *Operand, shape []int) error {
	if into == nil {
		return nil
	}
	from := c.Formula.Result
	if !slices.Equal(into.Shape, shape) {
		return seam.Misuse("Into", "View gives a tensor other dimensions", "the result is %s, and Into has %s", from.Shaped(shape), into.kind())
	}
	switch to := into.Type; {
	case from.IsComplex() && !to.IsComplex():
		return seam.Misuse("Into", "real, imag and abs give real numbers; or give one of "+from.String(),
			"the result is %v, and Into has %v, which is not complex", from, to)
	case from.IsFloat() && !to.IsFloat() && !to.IsComplex():
		return seam.Misuse("Into", "Convert rounds towards zero; or give one of "+from.String(),
			"the result is %v, and Into has %v, which would drop fractions", from, to)
	}
	return nil
}

// out returns the type of the elements that are stored.
func (c *Calculation) out(into *Operand) element.Type {
	if into != nil {
		return into.Type
	}
	return c.Formula.Result
}

// list describes the tensors: "x0 is f32[4], x1 is f32[5]".
func (c *Calculation) list() string {
	text := ""
	for i := range c.Operands {
		o := &c.Operands[i]
		if o.Access == Number {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("x%d is %s", i, o.kind())
	}
	return text
}

// arguments returns the arguments of a kernel for the operands, n, rank and size.
func (c *Calculation) arguments(n, rank, size int) (args []uint64) {
	for _, o := range c.Operands {
		if o.Access == Number {
			args = append(args, o.Bits)
		} else {
			args = append(args, uint64(o.At))
		}
	}
	return append(args, uint64(n), uint64(rank), uint64(size))
}

// width returns the number of elements that a thread loads at once, given the size of the largest
// element type.
func (d *Device) width(bytes int) int {
	if d.Host {
		return 16 // chunks have multiples of so many elements
	}
	return max(16/bytes, 1)
}

// aligned reports whether the device can load that many elements of a type at an address at once.
func (d *Device) aligned(width int, at device.Ptr, of element.Type) bool {
	return d.Host || int(at)%(width*of.Size()) == 0
}
