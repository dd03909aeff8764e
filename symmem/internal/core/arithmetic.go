package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// The operations of this file are maps and reductions with names: package calculate has their
// formulas.

// calculate does an operation of the table. If the operation has several formulas, d selects one.
func (rt *Runtime) calculate(name string, d DType, opts []Option, operands ...any) *Tensor {
	of := calculate.Operations[name]
	args := operands
	for _, o := range opts {
		args = append(args, o)
	}
	return rt.calculated(of.Operator, of.Formula(d.element()), args, of.Reduces)
}

// named is calculate for operands any of which may be a number.
func (rt *Runtime) named(name string, opts []Option, operands ...any) *Tensor {
	rt.refuseClosed(name)
	for _, o := range operands {
		if t, ok := o.(*Tensor); ok {
			t.usable(name)
			return rt.calculate(name, t.dtype, opts, operands...)
		}
	}
	panic(rt.misuse(name, "", "calculate in Go", "no operand is a tensor"))
}

func (t *Tensor) calculate(name string, opts []Option, others ...any) *Tensor {
	t.usable(name)
	return t.rt.calculate(name, t.dtype, opts, append([]any{t}, others...)...)
}

// Add is t + y, element by element; y is a tensor or a number. Shapes are broadcast and types
// combined as numpy does: docs/arithmetic.md lists all operations of this kind. The result is a new
// ordinary tensor, or the tensor of the option Into; it is calculated in the order of the stream.
func (t *Tensor) Add(y any, opts ...Option) *Tensor { return t.calculate("Add", opts, y) }

// Sub is t - y: see [Tensor.Add].
func (t *Tensor) Sub(y any, opts ...Option) *Tensor { return t.calculate("Sub", opts, y) }

// Mul is t * y, element by element: see [Tensor.Add].
func (t *Tensor) Mul(y any, opts ...Option) *Tensor { return t.calculate("Mul", opts, y) }

// Div is t / y: see [Tensor.Add]. Quotients of integers are rounded towards zero; x / 0 is 0.
func (t *Tensor) Div(y any, opts ...Option) *Tensor { return t.calculate("Div", opts, y) }

// Mod is the remainder of t / y, which has the sign of t: see [Tensor.Add].
func (t *Tensor) Mod(y any, opts ...Option) *Tensor { return t.calculate("Mod", opts, y) }

// Pow is t to the power of y: see [Tensor.Add].
func (t *Tensor) Pow(y any, opts ...Option) *Tensor { return t.calculate("Pow", opts, y) }

// Minimum is the smaller of two elements, or NaN if one of them is NaN: see [Tensor.Add]. [Tensor.Min]
// is the smallest element of a tensor.
func (t *Tensor) Minimum(y any, opts ...Option) *Tensor { return t.calculate("Minimum", opts, y) }

// Maximum is the larger of two elements, or NaN if one of them is NaN: see [Tensor.Add]. [Tensor.Max]
// is the largest element of a tensor.
func (t *Tensor) Maximum(y any, opts ...Option) *Tensor { return t.calculate("Maximum", opts, y) }

// Eq is 1 where t == y and 0 elsewhere, as u8: see [Tensor.Add]. [Tensor.Equal] compares whole tensors.
func (t *Tensor) Eq(y any, opts ...Option) *Tensor { return t.calculate("Eq", opts, y) }

// Ne is 1 where t != y: see [Tensor.Eq].
func (t *Tensor) Ne(y any, opts ...Option) *Tensor { return t.calculate("Ne", opts, y) }

// Lt is 1 where t < y: see [Tensor.Eq].
func (t *Tensor) Lt(y any, opts ...Option) *Tensor { return t.calculate("Lt", opts, y) }

// Le is 1 where t <= y: see [Tensor.Eq].
func (t *Tensor) Le(y any, opts ...Option) *Tensor { return t.calculate("Le", opts, y) }

// Gt is 1 where t > y: see [Tensor.Eq].
func (t *Tensor) Gt(y any, opts ...Option) *Tensor { return t.calculate("Gt", opts, y) }

// Ge is 1 where t >= y: see [Tensor.Eq].
func (t *Tensor) Ge(y any, opts ...Option) *Tensor { return t.calculate("Ge", opts, y) }

// Where is a where t is not 0, and b elsewhere; a and b are tensors or numbers: see [Tensor.Add].
func (t *Tensor) Where(a, b any, opts ...Option) *Tensor { return t.calculate("Where", opts, a, b) }

// Neg is -t: see [Tensor.Add].
func (t *Tensor) Neg(opts ...Option) *Tensor { return t.calculate("Neg", opts) }

// Abs is the magnitude of each element: see [Tensor.Add].
func (t *Tensor) Abs(opts ...Option) *Tensor { return t.calculate("Abs", opts) }

// Exp is e to the power of each element: see [Tensor.Add]. For integers the result is f64, for 8-bit
// integers f32.
func (t *Tensor) Exp(opts ...Option) *Tensor { return t.calculate("Exp", opts) }

// Log is the natural logarithm of each element: see [Tensor.Exp].
func (t *Tensor) Log(opts ...Option) *Tensor { return t.calculate("Log", opts) }

// Sqrt is the square root of each element: see [Tensor.Exp].
func (t *Tensor) Sqrt(opts ...Option) *Tensor { return t.calculate("Sqrt", opts) }

// Convert is t with its elements converted to another type: see [Tensor.Add]. To a float type, values
// are rounded to the nearest. To an integer type, a float is rounded towards zero and limited to the
// type's range, NaN becomes 0, and integers wrap around.
func (t *Tensor) Convert(dtype DType, opts ...Option) *Tensor {
	const op = "Convert"
	t.usable(op)
	t.rt.numel(op, dtype, nil)
	return t.rt.calculate(op, dtype, opts, t)
}

// Sum is the sum of all elements, as a tensor without dimensions, or with the option Along the sums
// along a dimension. Floats are added in f64 and rounded once; the sum of integers is i64 or u64. It is
// calculated in the order of the stream; [Tensor.Item] reads it.
func (t *Tensor) Sum(opts ...Option) *Tensor { return t.calculate("Sum", opts) }

// Mean is the mean of all elements, or along a dimension: see [Tensor.Sum]. For integers it is f64.
func (t *Tensor) Mean(opts ...Option) *Tensor { return t.calculate("Mean", opts) }

// Min is the smallest element, or with Along the smallest elements along a dimension; NaN if an element
// is NaN: see [Tensor.Sum]. A tensor without elements is refused.
func (t *Tensor) Min(opts ...Option) *Tensor { return t.calculate("Min", opts) }

// Max is the largest element: see [Tensor.Min].
func (t *Tensor) Max(opts ...Option) *Tensor { return t.calculate("Max", opts) }

// ArgMin is the number of the first smallest element or, along a dimension, its index there, as i64:
// see [Tensor.Min]. NaN counts as smaller than every number.
func (t *Tensor) ArgMin(opts ...Option) *Tensor { return t.calculate("ArgMin", opts) }

// ArgMax is the number of the first largest element: see [Tensor.ArgMin]. NaN counts as larger than
// every number.
func (t *Tensor) ArgMax(opts ...Option) *Tensor { return t.calculate("ArgMax", opts) }

// Norm is the square root of the sum of the squares of all elements, or along a dimension: see
// [Tensor.Sum].
func (t *Tensor) Norm(opts ...Option) *Tensor { return t.calculate("Norm", opts) }

// Dot is the sum of the products of the elements of two tensors of one dimension: see [Tensor.Sum].
// [Runtime.MatMul] multiplies matrices.
func (t *Tensor) Dot(y *Tensor, opts ...Option) *Tensor {
	const op = "Dot"
	t.usable(op)
	t.rt.usable(op, y)
	if len(t.shape) != 1 || !slices.Equal(t.shape, y.shape) {
		panic(t.rt.misuse(op, "y", "MatMul multiplies matrices; View gives a tensor other dimensions",
			"both have one dimension, of the same size: not %s and %s", t.kind(), y.kind()))
	}
	d := t.dtype
	if y.dtype.element().IsFloat() || y.dtype.element().IsComplex() {
		d = DType(expression.Promote(t.dtype.element(), y.dtype.element()))
	}
	return t.rt.calculate(op, d, opts, t, y)
}

// Item is the value of a tensor of one element. It waits for the current stream.
func (t *Tensor) Item() float64 {
	const op = "Item"
	t.usable(op)
	if t.n != 1 {
		panic(t.rt.misuse(op, "tensor", "Float64s reads all", "%s has %d elements, not one", t.kind(), t.n))
	}
	return readFloats[float64](t, op)[0]
}

// MaxDiff is the largest difference between an element of t and the same element of y, a tensor of the
// same shape or a number. It is NaN if an element is NaN. MaxDiff is calculated on the device, in f64,
// and waits for the current stream. To compare ranks, y may be a peer's memory from
// Handle.GetRemoteTensor.
func (t *Tensor) MaxDiff(y any) float64 { return t.compared("MaxDiff", y) }

// Equal reports whether t and y have the same shape and the same elements. If y is a number, it reports
// whether all elements of t equal y. NaN equals nothing. See [Tensor.MaxDiff].
func (t *Tensor) Equal(y any) bool {
	const op = "Equal"
	t.usable(op)
	if u, ok := y.(*Tensor); ok {
		t.rt.usable(op, u)
		if !slices.Equal(t.shape, u.shape) {
			return false
		}
	}
	return t.compared(op, y) == 1
}

// AllClose reports whether each element of t differs from the same element of y, a tensor of the same
// shape or a number, by at most 1e-8 + 1e-5*|y|, as numpy's allclose does: see [Tensor.MaxDiff].
// tolerances replaces these constants: first the relative tolerance, then the absolute one.
func (t *Tensor) AllClose(y any, tolerances ...float64) bool {
	const op = "AllClose"
	t.usable(op)
	rtol, atol := 1e-5, 1e-8
	switch len(tolerances) {
	case 2:
		rtol, atol = tolerances[0], tolerances[1]
	case 1:
		rtol = tolerances[0]
	case 0:
	default:
		panic(t.rt.misuse(op, "tolerances", "", "there are two tolerances, the relative and the absolute one, not %d", len(tolerances)))
	}
	for _, tol := range []float64{rtol, atol} {
		if !(tol >= 0) {
			panic(t.rt.misuse(op, "tolerances", "", "a tolerance is not negative, and this is %v", tol))
		}
	}
	return t.compared(op, y, rtol, atol) == 1
}

// compared reads the result of a comparison of two tensors, or of a tensor with a number.
func (t *Tensor) compared(name string, y any, numbers ...any) float64 {
	t.usable(name)
	d := t.dtype
	if u, ok := y.(*Tensor); ok {
		t.rt.usable(name, u)
		if u.dtype.element().IsComplex() {
			d = u.dtype
		}
		if !slices.Equal(t.shape, u.shape) {
			panic(t.rt.misuse(name, "y", "View gives a tensor other dimensions", "%s and %s are of different shapes", t.kind(), u.kind()))
		}
	}
	t.rt.hostCall(name)
	if t.n == 0 && name == "MaxDiff" {
		return 0
	}
	return readFloats[float64](t.rt.calculate(name, d, nil, append([]any{t, y}, numbers...)...), name)[0]
}

// Normal sets the elements to values of the normal distribution with mean 0 and deviation 1. A value
// depends only on the seed, any int, and the element's index. It is for floating types. It returns t.
func (t *Tensor) Normal(seed int) *Tensor {
	const op = "Normal"
	t.mustFloat(op)
	return t.rt.calculate(op, t.dtype, []Option{Into{t}}, seed)
}

// Linspace sets the elements to equally spaced values from lo, the first, to hi, the last. It is for
// floating types. It returns t.
func (t *Tensor) Linspace(lo, hi float64) *Tensor {
	const op = "Linspace"
	t.mustFloat(op)
	return t.rt.calculate(op, t.dtype, []Option{Into{t}}, lo, hi, (hi-lo)/float64(max(t.n-1, 1)))
}

// mustFloat refuses a tensor of integers.
func (t *Tensor) mustFloat(op string) {
	t.usable(op)
	if t.mustBeReal(op); !t.dtype.element().IsFloat() {
		panic(t.rt.misuse(op, "tensor", "Arange and Rand fill integers", "%s has integers, which would drop fractions", t.kind()))
	}
}

// Transpose is t with its dimensions in reverse order, or in the given order: dimension k of the
// result is dimension order[k] of t. The order is ints or one []int. args may also have the options
// *Stream and Into, whose tensor must not overlap t. The result is a new ordinary tensor, or the
// tensor of Into; it is calculated in the order of the stream.
func (t *Tensor) Transpose(args ...any) *Tensor {
	const op = "Transpose"
	t.usable(op)
	var dims []int
	operands := []any{t}
	for _, a := range args {
		switch v := a.(type) {
		case int:
			dims = append(dims, v)
		case []int:
			dims = append(dims, v...)
		case Option:
			operands = append(operands, v)
		default:
			panic(t.rt.misuse(op, "args", "the order of the dimensions, such as 1, 0, and Into", "%T is no dimension and no option", a))
		}
	}
	if len(dims) == 0 {
		for i := range t.shape {
			dims = append(dims, len(t.shape)-1-i)
		}
	}
	c := t.rt.calculation(operators.Calculation(op, false), "x0", operands, false)
	p, err := c.Transposed(c.into(), dims)
	return c.run(c.opts.into, p, err)
}

// Concatenate joins tensors of one type along a dimension; their other dimensions are the same. args
// are the tensors, or one []*Tensor, and may also have the options *Stream and Into, whose tensor must
// not overlap the others. The result is a new ordinary tensor, or the tensor of Into; it is calculated
// in the order of the stream.
func (rt *Runtime) Concatenate(dim int, args ...any) *Tensor {
	const op = "Concatenate"
	rt.refuseClosed(op)
	var tensors []*Tensor
	var opts []any
	for _, a := range args {
		switch v := a.(type) {
		case *Tensor:
			tensors = append(tensors, v)
		case []*Tensor:
			tensors = append(tensors, v...)
		case Option:
			opts = append(opts, v)
		default:
			panic(rt.misuse(op, "tensors", "Fill makes a tensor of a number", "%T is no tensor and no option", a))
		}
	}
	for _, t := range tensors {
		if t == nil || t.st == nil {
			panic(rt.isNil(op, "tensor"))
		}
	}
	rt.usable(op, tensors...)
	if len(tensors) == 0 {
		panic(rt.misuse(op, "tensors", "name at least one after the dimension", "there is nothing to join"))
	}
	operands := make([]calculate.Operand, len(tensors))
	for i, t := range tensors {
		operands[i] = t.calculated()
	}
	shape, err := calculate.Joined(dim, operands)
	if err != nil {
		panic(rt.failure(op, err))
	}
	parts := make([]*calculation, len(tensors))
	for i, t := range tensors {
		parts[i] = rt.calculation(operators.Calculation(op, false), "x0", append([]any{t}, opts...), false)
	}
	first, out := parts[0], parts[0].opts.into
	if err := first.Fits(first.into(), shape); err != nil {
		panic(rt.failure(op, err))
	}
	for i, t := range tensors {
		if out != nil && Operand(out).Overlaps(t) {
			panic(first.Misuse("Into", "give memory of its own", "Into overlaps tensor %d, %s", i, t.kind()))
		}
	}
	if out == nil {
		out = first.undefined(tensors[0].dtype, shape)
	}
	strides, at := calculate.Strides(shape), 0
	for i, t := range tensors {
		part := *out // the place of t, by the strides of the whole
		part.offset += at * strides[dim] * out.dtype.Size()
		at += t.shape[dim]
		if t.n > 0 {
			p, err := parts[i].Placed(part.calculated(), strides)
			parts[i].run(&part, p, err)
		}
	}
	return out
}

// undefined allocates a result whose elements several kernels will store.
func (c *calculation) undefined(dtype DType, shape []int) *Tensor {
	defer c.Enter().Leave()
	c.PickStream()
	n := 1
	for _, d := range shape {
		n *= d
	}
	return c.Fresh(dtype, shape, n)
}
