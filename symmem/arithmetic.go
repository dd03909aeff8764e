package symmem

// The operations of this file are methods of tensors too; here every operand may be a number.

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
