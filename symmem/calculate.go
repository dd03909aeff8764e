package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/core/operators"

// Map calculates every element of a tensor by a formula, in one kernel: Map("x0*x1 + rank", x, 2)
// has x for x0 and 2 for x1. Formulas have the operators and the precedence of Go, ?: of C, and a
// fixed table of functions: docs/arithmetic.md has all, and operations with names, such as
// [Tensor.Add]. rank, size, i and n stand for this rank in the group, the members, the number of the
// element, and how many there are. A formula is parsed and given types, and a kernel is made of it,
// which is compiled when it is needed first and kept like those of Compile.
//
// args are operands, tensors and numbers, and may have options among them. The result is a new
// ordinary tensor, or that of Into.
//
// PyTorch: its operations on elements, and CuPy's ElementwiseKernel
//
// Shapes: tensors of any type and any memory, also a peer's on this host; shapes are broadcast and types combined as
// numpy does, and numbers take the type of what they meet. f16, bf16 and 8-bit floats are calculated
// as f32 and rounded once. Into has the shape of the result, and any type but integers for a result
// of floats; it is exactly an operand, or overlaps none. Without a tensor among the operands, Into
// says the shape.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Group (of rank and size), *Stream, Timeout, Into.
//
// Capture: with Into; without, it is refused, because the result is allocated.
//
// Errors: KindMisuse for a formula that is wrong, with the position, for operands that do not fit,
// and for numbers that an integer type does not have.
func (rt *Runtime) Map(formula string, args ...any) *Tensor {
	return rt.core.Calculated(operators.Map, formula, args, false)
}

// Reduce calculates a formula with one reduction: Reduce("max(abs(x0))", x). What stands in the
// reduction is calculated for every element, without memory for it, and what stands around it for
// the result, where n is how many elements were reduced, and floats are f64: "sqrt(sum(x0*x0)/n)".
// The reductions are sum, prod, min, max, argmin, argmax, any and all. The result has no dimensions;
// with Along it has those that remain. [Tensor.Item] reads one value.
//
// Floats are added up in f64, in an order that the shape and the device decide, and rounded once;
// integers in i64 or u64, which wrap around.
//
// PyTorch: sum, amax, argmax and the like; CuPy's ReductionKernel
//
// Shapes: as [Runtime.Map], but all tensors have the same shape, or one element.
//
// Synchronises: ordered on the stream; it concerns this rank alone.
//
// Options: *Group (of rank and size), *Stream, Timeout, Into, Along.
//
// Capture: with Into; without, it is refused, because the result is allocated.
//
// Errors: as [Runtime.Map]; KindMisuse for the least, the largest or their index among no elements.
func (rt *Runtime) Reduce(formula string, args ...any) *Tensor {
	return rt.core.Calculated(operators.Reduce, formula, args, true)
}
