package symmem

import (
	"slices"

	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Collectives by NCCL. NCCL combines in an order of its own and has its own kernels, also in
// graphs. core.Call.ByNCCL decides when it is used.

// byNCCL decides whether a reduction, which has not entered, goes by NCCL. cannot says why NCCL
// does not do this one, if so.
func (r *reduction) byNCCL(cannot string) bool {
	if r.t.Numel() == 0 {
		return false
	}
	if cannot == "" && r.Record.Reduction == "avg" && !element.Type(r.t.DType()).IsFloat() {
		cannot = "it has no avg of integers"
	}
	if cannot == "" && !element.Type(r.t.DType()).Reduces() {
		cannot = "it rounds the sums of 8-bit floats at every step"
	}
	return r.ByNCCL(cannot)
}

// nccl issues a reduction of this kind into out, between enter and leave. n counts the elements
// that a member gets.
func (r *reduction) nccl(kind device.CollectiveKind, out *Tensor, n int) {
	r.RunNCCL(device.Collective{Kind: kind, Src: core.Operand(r.t).Addr(), Dst: core.Operand(out).Addr(), N: n,
		Type: r.t.DType().String(), Reduction: r.Record.Reduction}, r.t.Bytes())
}

// noEngines returns the reason why NCCL cannot do an exchange by copy engines, if the call asks for
// them; "" if it can.
func (e *exchange) noEngines() string {
	if e.Has(operators.CopyEngine) && (e.out == nil || !e.Maps(e.t) || !e.Maps(e.out)) {
		return "its copy engines need tensors that the group has rendezvoused, and one for the result"
	}
	return ""
}

// nccl runs an exchange by NCCL. Members give each other n bytes each.
func (e *exchange) nccl(kind device.CollectiveKind, shape []int, n, root int) *Tensor {
	defer e.Enter().Leave()
	for _, x := range []*Tensor{e.t, e.out} { // ordinary ones are as good to NCCL
		if x != nil && e.Maps(x) {
			e.Mapped(x)
		}
	}
	if e.out != nil && e.Maps(e.out) {
		e.Record.On(e.out)
	} else {
		e.Record.On(e.t)
	}
	e.PickStream()
	if e.out == nil {
		e.out = e.Fresh(e.t.DType(), slices.Clone(shape), numelOf(shape))
	}
	if n == 0 {
		return e.out
	}
	e.Admit(e.t, e.out)
	e.RunNCCL(device.Collective{Kind: kind, Src: core.Operand(e.t).Addr(), Dst: core.Operand(e.out).Addr(), N: n, Type: "u8",
		Root: root}, e.t.Bytes())
	return e.out
}
