package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/core/operators"

// Map calculates every element of a tensor by a formula, in one kernel: Map("x0*x1 + rank", x, 2)
// has x for x0 and 2 for x1. Formulas have the operators and the precedence of Go, ?: of C, and a
// fixed table of functions. docs/arithmetic.md lists them, and the named operations such as
// [Tensor.Add]. In a formula, rank is this rank's number in the group, size the number of members, i
// the number of the element, and n the number of elements. The first call with a formula compiles a
// kernel, which is cached like the kernels of Compile.
//
// args are operands, which are tensors and numbers, and options. The result is a new ordinary tensor,
// or the tensor of Into.
//
// PyTorch: its operations on elements, and CuPy's ElementwiseKernel
//
// Shapes: tensors of any type and any memory, also a peer's memory on this host. Shapes are broadcast
// and types combined as numpy does; a number takes the type of the other operand. f16, bf16 and 8-bit
// floats are calculated as f32 and rounded once. The tensor of Into has the shape of the result. It may
// have any type, but a result of floats needs a float type. It is exactly one of the operands, or
// overlaps none of them. If no operand is a tensor, Into determines the shape.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Group (of rank and size), *Stream, Timeout, Into.
//
// Capture: with Into; without, it is refused, because the result is allocated.
//
// Errors: KindMisuse for a formula with a fault, with its position, for operands that do not fit
// together, and for numbers out of the range of an integer type.
func (rt *Runtime) Map(formula string, args ...any) *Tensor {
	return rt.core.Calculated(operators.Map, formula, args, false)
}

// Reduce calculates a formula with one reduction: Reduce("max(abs(x0))", x). The argument of the
// reduction is calculated for every element, and takes no memory. The rest of the formula is calculated
// for the result, with floats in f64; there n is the number of elements that were reduced, as in
// "sqrt(sum(x0*x0)/n)". The reductions are sum, prod, min, max, argmin, argmax, any and all. The result
// has no dimensions; with Along it has the remaining dimensions. [Tensor.Item] reads one value.
//
// Floats are added in f64 and rounded once; the order depends on the shape and the device. Integers are
// added in i64 or u64, and wrap around.
//
// PyTorch: sum, amax, argmax and others; CuPy's ReductionKernel
//
// Shapes: as [Runtime.Map], but all tensors have the same shape, or one element.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Group (of rank and size), *Stream, Timeout, Into, Along.
//
// Capture: with Into; without, it is refused, because the result is allocated.
//
// Errors: as [Runtime.Map]; KindMisuse for min, max, argmin or argmax of no elements.
func (rt *Runtime) Reduce(formula string, args ...any) *Tensor {
	return rt.core.Calculated(operators.Reduce, formula, args, true)
}
