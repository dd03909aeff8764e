package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Reductions of types that have no kernels of their own, as torch.distributed does them: of complex
// numbers the parts are reduced, which is right for sums and averages, and the bytes of Bool by max
// for "sum", which is then a logical or.

// asParts are the arguments of a reduction whose tensors are views of the parts of others.
type asParts struct {
	t  *Tensor
	op string
	of DType // of the elements themselves
}

// inParts returns the arguments by which the operator reduces the parts of t's elements. ok is false if
// t's elements are reduced as they are.
func (rt *Runtime) inParts(of *operators.Operator, t *Tensor, op string) (p asParts, ok bool) {
	rt.core.Usable(of.Name, t)
	p = asParts{op: op, of: t.DType()}
	switch {
	case element.Type(p.of).IsComplex():
		if op == "max" || op == "min" {
			panic(rt.core.Misuse(of.Name, "op", `reduce the magnitudes, symm.Map("abs(x0)", t)`, "complex numbers have no %s", op))
		}
	case p.of == Bool:
		switch op {
		case "sum":
			p.op = "max"
		case "avg":
			panic(rt.core.Misuse(of.Name, "op", `"sum" and "max" are a logical or, "min" a logical and`, "%v has no avg", p.of))
		}
	default:
		return p, false
	}
	p.t = core.Operand(t).Parts()
	return p, true
}

// into returns the view of the parts of a result, which may be nil and must have elements of the
// same type as the tensor that is reduced.
func (p *asParts) into(rt *Runtime, of *operators.Operator, out *Tensor) *Tensor {
	if out == nil {
		return nil
	}
	if out.DType() != p.of {
		panic(rt.core.Misuse(of.Name, "out", "give one of the same type", "out has elements of %v, the tensor of %v", out.DType(), p.of))
	}
	return core.Operand(out).Parts()
}
