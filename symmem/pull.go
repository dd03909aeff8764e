package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// pull launches the kernel that reduces between two barriers, with the pieces in g.pullArgs, of which a member
// reduces bytes at most.
func (r *reduction) pull(bytes int, c core.Context) {
	g := r.Group()
	a := core.ArgsOf[pullArgs](&r.Call)
	l, c := r.MeetingGrid(bytes, a.outs == 1, c)
	a.context, a.signals, a.op = c, r.Work().Meetings, r.code
	r.Launch(pullKernels[r.t.DType()], g.Size(), l, core.BytesOf(a))
}

// pullSlices reduces this member's slice into everybody's out, which is symmetric. The slices begin at multiples
// of 16 bytes in memory.
func (r *reduction) pullSlices(h core.Copies, out *Tensor, c core.Context) {
	t, g := r.t, r.Group()
	to := r.Mapped(out)
	size, world := t.DType().Size(), g.Size()
	skew := int(core.Addr(t)) % 16
	slice := (((t.Bytes()+skew+world-1)/world + 15) &^ 15)
	lo := min(max(g.Rank()*slice-skew, 0), t.Bytes())
	hi := min(max((g.Rank()+1)*slice-skew, 0), t.Bytes())
	a := core.ArgsOf[pullArgs](&r.Call)
	*a = pullArgs{outs: uint64(world), n: uint64((hi - lo) / size)}
	for i := range g.Size() {
		a.in[i] = h.At(i) + device.Ptr(lo)
		a.out[i] = to.At((g.Rank()+i)%world) + device.Ptr(lo)
	}
	r.pull(slice, c)
}

var pullKernels = namesOf("pull_reduce_")

// pullArgs is PullArgs of pull_reduce.cu.
type pullArgs struct {
	context       core.Context
	signals       core.Ptrs
	in, out       core.Ptrs
	outs          uint64
	n             uint64
	width, stride uint64
	op            uint64
}
