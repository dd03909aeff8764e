//go:build linux && amd64

package cpu

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

func TestPTXFirst(t *testing.T) {
	b := open(t)
	m, err := b.Compile(device.Source{Name: "c", Line: 1, Text: `
#define LD(order) "ld." order ".global.u32"
#define ST(type, p, v) asm volatile("st.release.sys.global." #type " [%0], %1;" :: "l"(p), \
  "r"(v) : "memory")
__device__ __forceinline__ unsigned ld(const unsigned* p) {
  unsigned v;
  asm volatile(LD("acquire.sys") " %0, [%1];" /* x */ : "=r"(v) : "l"(p) : "memory");
  return v;
}
__global__ void f(unsigned* p) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned v = ld(p);
  ST(u32, p + 1 + lane, v + lane);
  asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 3; @q red.add.relaxed.gpu.u32 [%0], 5; }" :: "l"(p + 40), "r"(lane));
  asm volatile("bar.sync 0;");
}
`})
	if err != nil {
		t.Fatal(err)
	}
	p := upload(b, append([]uint32{7}, make([]uint32, 99)...))
	b.launch(m.Kernels()[0], 1, 32, p)
	got := download[uint32](b, p, 41)
	t.Log(got)
}
