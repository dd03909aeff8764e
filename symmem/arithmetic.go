package symmem

// The operations of this file are also methods of tensors. Here every operand of the first of them may
// be a number.

// Add is x + y, element by element, each a tensor or a number: see [Tensor.Add].
func (rt *Runtime) Add(x, y any, opts ...Option) *Tensor { return rt.core.Named("Add", opts, x, y) }

// Sub is x - y, element by element, each a tensor or a number: see [Tensor.Add].
func (rt *Runtime) Sub(x, y any, opts ...Option) *Tensor { return rt.core.Named("Sub", opts, x, y) }

// Mul is x * y, element by element, each a tensor or a number: see [Tensor.Add].
func (rt *Runtime) Mul(x, y any, opts ...Option) *Tensor { return rt.core.Named("Mul", opts, x, y) }

// Div is x / y, element by element, each a tensor or a number: see [Tensor.Div].
func (rt *Runtime) Div(x, y any, opts ...Option) *Tensor { return rt.core.Named("Div", opts, x, y) }

// Where is x where cond is not 0, and y elsewhere, each a tensor or a number: see [Tensor.Where].
func (rt *Runtime) Where(cond, x, y any, opts ...Option) *Tensor {
	return rt.core.Named("Where", opts, cond, x, y)
}

// Equal reports whether two tensors have the same shape and elements: see [Tensor.Equal].
func (rt *Runtime) Equal(x *Tensor, y any) bool {
	rt.core.Usable("Equal", x)
	return x.Equal(y)
}

// AllClose reports whether the elements of two tensors differ within tolerances: see
// [Tensor.AllClose].
func (rt *Runtime) AllClose(x *Tensor, y any, tolerances ...float64) bool {
	rt.core.Usable("AllClose", x)
	return x.AllClose(y, tolerances...)
}

// MaxDiff is the largest difference between elements of two tensors: see [Tensor.MaxDiff].
func (rt *Runtime) MaxDiff(x *Tensor, y any) float64 {
	rt.core.Usable("MaxDiff", x)
	return x.MaxDiff(y)
}
