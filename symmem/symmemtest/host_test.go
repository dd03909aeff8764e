package symmemtest

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// hostMemoryCase copies between the host's pinned memory and the device's, and lets kernels use it.
func hostMemoryCase(t *T) {
	where := "host"
	if strings.HasPrefix(symmem.Caps().Device, "cpu") {
		where = "ordinary"
	}
	for _, n := range []int{0, 1, 1000, 1 << 20} {
		x, y := symmem.Host(symmem.I32, n), symmem.Local(symmem.I32, n)
		t.equal("where it is", x.Memory(), where)
		t.equal("zeros", x.Ints(), make([]int, n))
		values := sequence(n, 1<<20)
		y.CopyFrom(x.CopyFrom(values))
		t.equal("copied to the device", y.Ints(), values)
		x.Fill(-1)
		x.CopyFrom(y)
		t.equal("copied from it", x.Ints(), values)
		y.Add(x, symmem.Into(x))
		t.equal("calculated into it", x.Sub(y).Equal(y), true)
		x.Free()
	}
	x, sum := symmem.Host(symmem.F32, 300).Fill(0.5), symmem.Local(symmem.F32, 1)
	k := symmem.Compile(`extern "C" __global__ void add(float* x, float* sum) {
		atomicAdd(sum, x[threadIdx.x]);
		x[threadIdx.x] = threadIdx.x;
	}`)
	k.Launch(symmem.Grid(1), symmem.Block(300), x, sum)
	t.equal("read by a kernel", sum.Item(), 150.0)
	t.equal("written by a kernel", x.Slice(298, 300).Ints(), []int{298, 299})
	s := symmem.NewStream()
	symmem.OnStream(s, func() { sum.CopyFrom(x.Slice(7, 8)) })
	s.Synchronize()
	s.Free()
	t.equal("on another stream", sum.Item(), 7.0)
	for range 50 { // the memory of dropped tensors comes back
		symmem.Host(symmem.U8, 8<<20).Free()
	}
	t.refused(symmem.KindMisuse, func() { symmem.Rendezvous(x) })
	t.refused(symmem.KindMisuse, func() { symmem.Host(symmem.F32, -1) }, "negative")
	t.refused(symmem.KindMisuse, func() { symmem.Host(4, 4) }, "symm.Host(symm.F32, 4, 4)")
	x.Free()
	t.refused(symmem.KindMisuse, func() { x.Ints() }, "freed")
}
