//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/pace"
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

// Blocks give way also under the sanitizer, though nobody asks which kernels run.
func TestManyWatchedBlocksPoll(t *testing.T) {
	b := watch(t)
	kernels := b.compile(`#include <symm.cuh>
__global__ void plain(unsigned* c) { if (threadIdx.x == 0) { atomicAdd(c, 1u); while (*(volatile unsigned*)c < gridDim.x); } __syncthreads(); }
__global__ void acquire(unsigned* c) { if (threadIdx.x == 0) { atomicAdd(c, 1u); while (symm::load_acquire(c) < gridDim.x); } __syncthreads(); }`)
	for name, kernel := range kernels {
		for _, blocks := range []int{40, 100, 300} {
			c := upload(b, []uint32{0})
			b.launch(kernel, blocks, 32, c)
			if got := download[uint32](b, c, 1)[0]; got != uint32(blocks) {
				t.Errorf("%s: %d of %d blocks", name, got, blocks)
			}
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

// Under the sanitizer, a kernel that polls is told from a kernel that computes, though it reads the same
// words again and again.
func TestWatchedKernelsSpin(t *testing.T) {
	b := watch(t)
	kernels := b.compile(`#include <symm.cuh>
__global__ void plain(volatile int* n, float* x) { while (n[2] == 0); }
__global__ void acquire(int* n, float* x) { while (symm::load_acquire((unsigned*)n + 2) == 0); }
__global__ void swap(int* n, float* x) { while (atomicCAS(n + 2, 1, 2) != 1); }
__global__ void words(volatile int* n, float* x) { for (bool all = false; !all;) { all = true; for (int i = 2; i < 16; i++) all &= n[i] != 0; } }
__global__ void one(volatile int* n, float* x) { if (threadIdx.x == 0) while (n[2] == 0); __syncthreads(); }
__global__ void vote(volatile int* n, float* x) { while (!__syncthreads_or(threadIdx.x == 0 && n[2] != 0)); }
__global__ void shared(volatile int* n, float* x) {
  __shared__ volatile int flag;
  flag = 0;
  __syncthreads();
  while (flag == 0);
}
__global__ void sums(volatile int* n, float* x) {
  for (;;)
    for (int i = 0; i < n[0]; i++) {
      x[i] = x[i] * 0.5f + n[1];
      if (n[2]) x[0] = n[3];
    }
}
__global__ void seldom(volatile int* n, float* x) {
  for (;;) {
    int sum = 0;
    for (int i = 0; i < 500; i++) sum += n[1];
    x[threadIdx.x] = sum;
  }
}
__global__ void reads(volatile int* n, float* x) {
  for (int sum = 0; n[2] == 0;)
    for (int i = 0; i < 1024; i++) sum += n[i];
}
__global__ void registers(volatile int* n, float* x) {
  for (unsigned v = n[1]; v != 0;) asm volatile("" : "+r"(v));
}
`)
	words := make([]int32, 1024)
	words[0], words[1] = 16, 1
	n, x := upload(b, words), b.alloc(256)
	for _, c := range []struct {
		kernel        string
		blocks, block int
		line          int // of the poll; 0 if it computes
	}{
		{"plain", 1, 1, 2}, {"plain", 4, 64, 2}, {"plain", 300, 32, 2}, {"acquire", 1, 1, 3}, {"acquire", 4, 64, 3}, {"swap", 1, 32, 4}, {"words", 1, 32, 5},
		{"one", 1, 64, 6}, {"vote", 1, 64, 7}, {"shared", 1, 64, 12},
		{"sums", 1, 1, 0}, {"seldom", 1, 32, 0}, {"reads", 1, 1, 0}, {"registers", 1, 32, 0},
	} {
		b.launch(kernels[c.kernel], c.blocks, c.block, n, x)
		where := ""
		if c.line > 0 {
			where = fmt.Sprintf("cell[3]:%d", c.line)
		}
		samples := 0 // that are right; before the loop the kernel may do something else
		var latest []device.Running
		for began := time.Now(); samples < 5 && time.Since(began) < pace.Unhurried(limit/2); time.Sleep(5 * time.Millisecond) {
			latest = b.Device.(device.Observer).Running()
			if len(latest) == 0 { // there is no sample yet
				continue
			}
			r := latest[0]
			right := r.Kernel == c.kernel && r.Spins == (c.line > 0) && r.Where == where
			if right {
				samples++
			} else if samples > 0 {
				break
			}
		}
		if samples < 5 {
			t.Errorf("%s, %d × %d threads: %+v after %d right samples, want that it polls at %q", c.kernel, c.blocks, c.block, latest, samples, where)
		}
		atomic.StoreUint32(&b.Watch().Abort, 1)
		if err := b.stream.Synchronize(); err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("%s: %v", c.kernel, err)
		}
		atomic.StoreUint32(&b.Watch().Abort, 0)
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

// A block that loads a word several times in each turn of its loop, and other words between, waits as
// well: an executor is called for a block that has not begun.
func TestPollsSeveralTimes(t *testing.T) {
	b := open(t)
	k := b.compile(`
__device__ unsigned ld(const unsigned* p) { unsigned v; asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__global__ void clear(unsigned* p) { // and let p[2] be the word that is remembered
  p[0] = p[1] = p[2] = p[3] = 0;
  for (int i = 0; i < 100; i++) ld(p + 2);
}
__global__ void others(unsigned* p, int times) {
  if (threadIdx.x) return;
  if (atomicAdd(p + 3, 1)) { p[0] = 1; return; } // the second block
  for (unsigned lost = 0; !lost; ) {
    for (int i = 0; i < times; i++) lost |= ld(p + 2);
    if (ld(p + 1)) break;
    if (ld(p)) break;
  }
}`)
	for times := range int32(9) {
		p := b.alloc(16)
		b.launch(k["clear"], 1, 1, p)
		b.launch(k["others"], 2, 32, p, times)
		b.sync()
		b.Free(p)
	}
}
