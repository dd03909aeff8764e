//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// polls are the forms in which a thread may read a word again and again.
var polls = map[string]string{
	"load_acquire": "symm::load_acquire(c)",
	"load_relaxed": "symm::load_relaxed(c)",
	"volatile":     "*(volatile unsigned*)c",
	"ldcv":         "__ldcv(c)",
	"ptx_acquire":  `ld("ld.acquire.sys.global.u32 %0, [%1];")`,
	"ptx_relaxed":  `ld("ld.relaxed.gpu.global.u32 %0, [%1];")`,
	"ptx_volatile": `ld("ld.volatile.global.u32 %0, [%1];")`,
	"ptx_atomic":   `ld("atom.global.or.b32 %0, [%1], 0;")`,
	"add":          "atomicAdd(c, 0u)",
	"sub":          "atomicSub(c, 0u)",
	"or":           "atomicOr(c, 0u)",
	"and":          "atomicAnd(c, ~0u)",
	"xor":          "atomicXor(c, 0u)",
	"max":          "atomicMax(c, 0u)",
	"cas":          "atomicCAS(c, 0u, 0u)",
	"atomic_ref":   "cuda::atomic_ref<unsigned>(*c).load(cuda::memory_order_acquire)",
	"nv_atomic":    "__nv_atomic_load_n(c, __NV_ATOMIC_ACQUIRE)",
}

// pollsText returns the kernels of polls. Each waits until all blocks have come.
func pollsText() string {
	text := "#include <symm.cuh>\n#include <cuda/atomic>\n" +
		"#define ld(text) ({ unsigned v; asm volatile(text : \"=r\"(v) : \"l\"(c) : \"memory\"); v; })\n"
	for name, read := range polls {
		text += fmt.Sprintf("__global__ void poll_%s(unsigned* c) {\n  if (threadIdx.x == 0) { atomicAdd(c, 1u); while (%s < gridDim.x); }\n"+
			"  __syncthreads();\n}\n", name, read)
	}
	return text
}

// Blocks that wait for all blocks of a grid give way to those that have not begun.
func TestManyBlocksPoll(t *testing.T) {
	b := open(t)
	kernels := b.compile(pollsText())
	for name := range polls {
		blocks := []int{1, 40, 300}
		if name == "volatile" { // which shows by its instructions only
			blocks = []int{1, 20, 100, 300}
		}
		for _, blocks := range blocks {
			c := upload(b, []uint32{0})
			began := time.Now()
			b.launch(kernels["poll_"+name], blocks, 32, c)
			if got := download[uint32](b, c, 1)[0]; got != uint32(blocks) {
				t.Errorf("%s: %d of %d blocks", name, got, blocks)
			}
			t.Logf("%s: %d blocks in %v", name, blocks, time.Since(began))
			b.Free(c)
		}
	}
}

// A grid of many blocks of many threads that poll for ever is explained, by the number of all its
// threads, and can be stopped.
func TestManyBlocksHang(t *testing.T) {
	b := open(t)
	kernels := b.compile(`
__global__ void all(const unsigned* p) { unsigned v; do asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p + threadIdx.x) : "memory"); while (v == 0); }
__global__ void plain(volatile unsigned* p) { if (threadIdx.x == 0) while (p[0] == 0); __syncthreads(); }
__global__ void one(const unsigned* p) { if (threadIdx.x == 0) while (atomicOr((unsigned*)p, 0u) == 0); __syncthreads(); }
__global__ void spin(volatile unsigned* p) { while (p[0] == 0); }`)
	p := b.alloc(4096)
	for _, c := range []struct {
		kernel         string
		blocks, block  int
		threads, lines int
	}{{"all", 1, 1024, 1024, 2}, {"all", 100, 32, 3200, 2}, {"plain", 300, 32, 300, 3}, {"spin", 2000, 32, 64000, 5}, {"one", 300, 128, 300, 4}} {
		b.launch(kernels[c.kernel], c.blocks, c.block, p)
		var seen device.Running
		for end := time.Now().Add(limit / 2); seen.Threads != c.threads && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if r := b.Device.(device.Observer).Running(); len(r) == 1 && r[0].Spins {
				seen = r[0]
			}
		}
		where := fmt.Sprintf("cell[3]:%d", c.lines)
		if seen.Threads != c.threads || len(seen.Reads) == 0 || seen.Reads[0] < p || seen.Reads[0] >= p+4096 || seen.Where != where {
			t.Errorf("%s, %d blocks: %+v, want %d threads at %s", c.kernel, c.blocks, seen, c.threads, where)
		}
		began := time.Now()
		atomic.StoreUint32(&b.Watch().Abort, 1)
		err := b.stream.Synchronize()
		atomic.StoreUint32(&b.Watch().Abort, 0)
		if err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("%s: %v", c.kernel, err)
		}
		t.Logf("%s: %d blocks end after %v", c.kernel, c.blocks, time.Since(began))
	}
}

// A loop over more words than a thread is known to have loaded is a poll, and is explained.
func TestPollsManyWords(t *testing.T) {
	b := open(t)
	k := b.compile(`
__device__ unsigned ld(const unsigned* p) { unsigned v; asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__global__ void words(const unsigned* p, int n) {
  for (bool all = false; !all;) {
    all = true;
    for (int i = 0; i < n; i++) all &= ld(p + i) != 0;
  }
}
__global__ void set(unsigned* p, int n) { for (int i = 0; i < n; i++) p[i] = 1; }`)
	other := mustStream(t, b.Device)
	for _, n := range []int32{1, 2, 13, 100} {
		p := b.alloc(4 * int(n))
		b.launch(k["words"], 1, 64, p, n)
		time.Sleep(100 * time.Millisecond)
		if idle, err := b.stream.Idle(); idle || err != nil {
			t.Fatalf("%d words: it has ended: %v", n, err)
		}
		(&bench{t, b.Device, other}).launch(k["set"], 1, 1, p, n)
		b.sync()
		b.Free(p)
	}
}
