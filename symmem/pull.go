package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// pull launches the kernel that reduces between two barriers. The pieces are in the PullArgs of
// r.Call; a member reduces at most bytes of them.
func (r *reduction) pull(bytes int, c abi.Context) {
	g := r.Group()
	a := core.ArgsOf[allreduce.PullArgs](&r.Call)
	l, c := r.MeetingGrid(bytes, a.Outs == 1, c)
	a.Context, a.Signals, a.Op = c, r.Work().Meetings, r.code
	r.Launch(pullKernels[r.dtype], g.Size(), l, launch.Bytes(a))
}

// addUp launches the kernel that reduces n elements of copies of the members' pieces, which are in
// this member's memory, into out.
func (r *reduction) addUp(from func(member int) device.Ptr, out device.Ptr, n int, c abi.Context) {
	a := core.ArgsOf[allreduce.PullArgs](&r.Call)
	*a = allreduce.PullArgs{Context: c, Outs: 1, N: uint64(n), Op: r.code, Arrived: 1}
	for i := range r.Group().Size() {
		a.In[i] = from(i)
	}
	a.Out[0] = out
	r.Launch(pullKernels[r.dtype], r.Group().Size(), r.ElementGrid(n), launch.Bytes(a))
}

// pullSlices reduces this member's slice into everybody's out, which is symmetric. The slices begin
// at multiples of 16 bytes in memory.
func (r *reduction) pullSlices(h core.Copies, out *Tensor, c abi.Context) {
	t, g := r.t, r.Group()
	to := r.Mapped(out)
	size, world := t.DType().Size(), g.Size()
	skew := int(core.Operand(t).Addr()) % 16
	slice := (((t.Bytes()+skew+world-1)/world + 15) &^ 15)
	lo := min(max(g.Rank()*slice-skew, 0), t.Bytes())
	hi := min(max((g.Rank()+1)*slice-skew, 0), t.Bytes())
	a := core.ArgsOf[allreduce.PullArgs](&r.Call)
	*a = allreduce.PullArgs{Outs: uint64(world), N: uint64((hi - lo) / size)}
	for i := range g.Size() {
		a.In[i] = h.At(i) + device.Ptr(lo)
		a.Out[i] = to.At((g.Rank()+i)%world) + device.Ptr(lo)
	}
	r.pull(slice, c)
}

var pullKernels = namesOf("pull_reduce_")
