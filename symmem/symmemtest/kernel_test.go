package symmemtest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

const scaleSource = `extern "C" __global__ void scale(float* x, int n, float a) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= a;
}`

func kernelsCase(t *T) {
	x := symmem.Local(symmem.F32, 1000).Arange()
	scale := symmem.Compile(scaleSource)
	t.equal("name", scale.Name(), "scale")
	if s := scale.String(); !strings.HasPrefix(s, "scale(float* x, int n, float a)") {
		t.Errorf("signature: %s", s)
	}
	scale.Launch(symmem.Grid(3), symmem.Block(64), x, x.Numel(), float32(2))
	for i, v := range x.Ints() {
		if v != 2*i {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	if symmem.Compile(scaleSource) != scale {
		t.Errorf("the same text is compiled twice")
	}

	// Every kind of argument arrives unchanged.
	every := symmem.Compile(`
		namespace mine { __global__ void other(double* out) { *out = 5; } }
		struct alignas(8) unused { int x; };
		extern "C" __global__ void every(double* out, bool b, signed char i8, unsigned char u8, short i16, unsigned short u16, int i32, unsigned u32,
			long long i64, unsigned long long u64, float f, double d, symm::f16 h, symm::bf16 g, void* p, const unsigned char* bytes) {
			out[0] = b; out[1] = i8; out[2] = u8; out[3] = i16; out[4] = u16; out[5] = i32; out[6] = u32; out[7] = i64; out[8] = u64;
			out[9] = f; out[10] = d; out[11] = symm::to_float(h); out[12] = symm::to_float(g); out[13] = p == out; out[14] = bytes[3];
		}`)
	t.equal("the other kernel", every.Kernel("every").Name(), "every")
	out := symmem.Local(symmem.F64, 15)
	every.Kernel("every").Launch(symmem.Grid(1, 1), symmem.Block(1, 1, 1), out, true, -128, 255, int16(-32768), 65535,
		math.MinInt32, uint32(math.MaxUint32),
		-1<<40, uint64(1<<50), float32(0.5), 0.25, 1.5, float32(-2), out, symmem.Local(symmem.F32, 1).Fill(1))
	t.equal("arguments", out.Float64s(), []float64{1, -128, 255, -32768, 65535, math.MinInt32, math.MaxUint32, -1 << 40, 1 << 50,
		0.5, 0.25, 1.5, -2, 1, 63})
	every.Kernel("every").Launch(symmem.Grid(1), symmem.Block(1), out, false, 0, 0, 0, 0, 0, 0, 0, 0, 1<<24, uint8(3), int8(-2),
		uint64(128), out, out)
	t.equal("whole numbers for floating types", out.Slice(9, 13).Float64s(), []float64{1 << 24, 3, -2, 128})
	every.Kernel("mine::other").Launch(symmem.Grid(1), symmem.Block(1), out)
	t.equal("in a namespace", out.Slice(0, 1).Ints(), []int{5})

	shared := symmem.Compile(`extern "C" __global__ void reverse(int* x) {
		extern __shared__ int s[];
		s[threadIdx.x] = x[threadIdx.x];
		__syncthreads();
		x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
	}`)
	y := symmem.Local(symmem.I32, 64).Arange()
	shared.Launch(symmem.Grid(1), symmem.Block(64), symmem.SharedBytes(256), y)
	want := make([]int, 64)
	for i := range want {
		want[i] = 63 - i
	}
	t.equal("shared memory", y.Ints(), want)
	s := symmem.NewStream()
	z := symmem.Local(symmem.F32, 10).Fill(3)
	symmem.Synchronize()
	scale.Launch(symmem.Grid(1), symmem.Block(32), s, z, 10, 3.0)
	s.Synchronize()
	t.equal("on a stream", z.Ints(), slices.Repeat([]int{9}, 10))
	s.Free()
}

// kernelHandleCase is communication in a user's kernel: it reads its right neighbour's buffer and
// signals through the group.
func kernelHandleCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 256).Fill(100+t.rank), symmem.Local(symmem.I32, 256)
	h := symmem.Rendezvous(x)
	pull := symmem.Compile(`extern "C" __global__ void pull(symm::Handle h, int* y) {
		if (!symm::barrier(h, 0)) return;
		int right = (h.rank + 1) % h.world_size;
		for (int i = threadIdx.x; i < 256; i += blockDim.x) y[i] = h.buffer<int>(right)[i] + (int)h.bytes;
		symm::barrier(h, 0);
	}`)
	for range 5 {
		pull.Launch(symmem.Grid(1), symmem.Block(64), h, y, symmem.Timeout(20*time.Second))
		h.Barrier(1)
	}
	t.equal("the right neighbour", y.Ints(), slices.Repeat([]int{100 + (t.rank+1)%t.size + 1024}, 256))

	push := symmem.Compile(`extern "C" __global__ void push(symm::Handle h, const int* src, unsigned long long round) {
		int right = (h.rank + 1) % h.world_size;
		symm::put_with_signal(h, right, 128, src, 512, 2, round);
		if (threadIdx.x == 0) symm::wait_for_signal(h, 2, round, true);
	}`)
	x.Fill(0)
	h.Barrier(0)
	src := symmem.Local(symmem.I32, 128).Fill(7 + t.rank)
	push.Launch(symmem.Grid(1), symmem.Block(96), h, src, 1, symmem.Timeout(20*time.Second))
	left := (t.rank + t.size - 1) % t.size
	got := x.Ints()
	for i, v := range got {
		want := 0
		if i >= 32 && i < 160 {
			want = 7 + left
		}
		if v != want {
			t.Fatalf("element %d is %d, want %d", i, v, want)
		}
	}
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

func kernelMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	scale := symmem.Compile(scaleSource)
	x := symmem.Local(symmem.F32, 8).Fill(1)
	grid, block := symmem.Grid(1), symmem.Block(32)
	const sig = "scale(float* x, int n, float a)"
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8) }, sig, "takes 3 arguments, not 2")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8, float32(1), 1) }, "takes 3 arguments, not 4")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8.0, float32(1)) }, sig, `"int n"`, "float64 8", "convert it to an integer")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8, 1<<24+1) }, `"float a"`, "int 16777217",
		"16777217 is not exactly representable in f32")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8, "1") }, `"float a"`, "a string")
	small := symmem.Compile("__global__ void small(symm::f16 x) {}")
	t.refused(misuse, func() { small.Launch(grid, block, 2049) }, `"symm::f16 x"`, "2049 is not exactly representable in f16")
	t.refused(misuse, func() { small.Launch(grid, block, 1<<16) }, "65536 is out of the range of f16")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 1<<31, float32(1)) }, "does not fit")
	t.refused(misuse, func() { scale.Launch(grid, block, []float32{1, 2}, 2, float32(1)) }, `"float* x"`, "[]float32",
		"copy it to a tensor first")
	t.refused(misuse, func() { scale.Launch(grid, block, symmem.Local(symmem.F64, 8), 8, float32(1)) }, "f64[8]", "give it a tensor of f32")
	t.refused(misuse, func() { scale.Launch(grid, block, 8, x, float32(1)) }, `"float* x"`, "int 8", "a pointer is given as a tensor")
	t.refused(misuse, func() { scale.Launch(grid, block, x, x, float32(1)) }, `"int n"`, "the tensor f32[8]")
	t.refused(misuse, func() { scale.Launch(grid, block, nil, 8, float32(1)) }, "nil")
	t.refused(misuse, func() { scale.Launch(grid, block, x, "8", float32(1)) }, "a string")
	t.refused(misuse, func() { scale.Launch(grid, block, x, true, float32(1)) }, "bool true")
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8, 1e300) }, "out of the range")
	t.refused(misuse, func() { scale.Launch(symmem.Grid(0), block, x, 8, float32(1)) }, "grid", "must be in [1, ", "not 0")
	t.refused(misuse, func() { scale.Launch(symmem.Grid(1, 2, 3, 4), block, x, 8, float32(1)) }, "one to three dimensions")
	t.refused(misuse, func() { scale.Launch(symmem.Grid(), block, x, 8, float32(1)) }, "not 0")
	t.refused(misuse, func() { scale.Launch(grid, symmem.Block(2048), x, 8, float32(1)) }, "block", "2048")
	t.refused(misuse, func() { scale.Launch(grid, symmem.Block(64, 64), x, 8, float32(1)) }, "4096 threads")
	t.refused(misuse, func() { scale.Launch(grid, block, symmem.SharedBytes(1<<30), x, 8, float32(1)) }, "shared memory", "1073741824")
	t.refused(misuse, func() { scale.Launch(grid, block, symmem.SharedBytes(-1), x, 8, float32(1)) }, "negative")
	t.refused(misuse, func() { scale.Launch(grid, block, symmem.Timeout(-1), x, 8, float32(1)) }, "timeout", "positive")
	t.refused(misuse, func() { scale.Kernel("halve") }, `no kernel "halve"`, "it has scale")
	y := symmem.Empty(symmem.F32, 8)
	h := symmem.Rendezvous(y)
	t.refused(misuse, func() { scale.Launch(grid, block, h, 8, float32(1)) }, "a handle", "symm::Handle")
	handle := symmem.Compile(`extern "C" __global__ void one(symm::Handle h) {}`)
	t.refused(misuse, func() { handle.Launch(grid, block, y) }, `"symm::Handle h"`, "Rendezvous returned")
	y.Free()
	t.refused(misuse, func() { handle.Launch(grid, block, h) }, "was freed")
	x.Free()
	t.refused(misuse, func() { scale.Launch(grid, block, x, 8, float32(1)) }, "was freed")
}

func compileErrorsCase(t *T) {
	if t.rank > 0 {
		return
	}
	e := t.refused(symmem.KindCompile, func() {
		symmem.CompileAt("cell[3]", 5, "extern \"C\" __global__ void f(float* x) {\n\tx[0] = undefined_name;\n}")
	}, "cell[3]:6", "undefined_name")
	t.equal("position", []any{e.File, e.Line, strings.TrimSpace(e.Source)}, []any{"cell[3]", 6, "x[0] = undefined_name;"})
	if e.Column != 0 && e.Column != 9 {
		t.Errorf("column %d", e.Column)
	}
	t.refused(symmem.KindCompile, func() { symmem.Compile(`extern "C" __global__ void f(float* x) { x[0] = 1 }`) }, "kernel:1")
	t.refused(symmem.KindCompile, func() { symmem.Compile(`__device__ int f() { return 1; }`) }, "no __global__ function")
	t.refused(symmem.KindCompile, func() {
		symmem.Compile("__device__ int crash(volatile int* p) { return *p; }\n__device__ int v = crash(nullptr);\nextern \"C\" __global__ void f(int* x) { x[0] = v; }")
	}, "kernel:2", "dynamic initialization is not supported")
	// Each diagnostic appears once: the first in the error's message, the others in its detail.
	e = t.refused(symmem.KindCompile, func() {
		symmem.Compile("__global__ void f(float* x) {\n\tx[0] = unknown1;\n\tx[1] = unknown2;\n\tx[2] = unknown3;\n}")
	}, "kernel:2", "unknown1")
	for i, line := range []string{"kernel:2", "kernel:3", "kernel:4"} {
		t.equal("diagnostics of "+line, strings.Count("\n"+e.Detail, "\n"+line+":"), min(i, 1))
	}
	if e = t.refused(symmem.KindCompile, func() { symmem.Compile("__global__ void f(float* x) { x[0] = unknown; }") }); e.Detail != "" {
		t.Errorf("the detail of one error is %q", e.Detail)
	}
	// The next text compiles.
	x := symmem.Local(symmem.F32, 1)
	symmem.Compile(`extern "C" __global__ void f(float* x) { x[0] = 1; }`).Launch(symmem.Grid(1), symmem.Block(1), x)
	t.equal("after errors", x.Ints(), []int{1})
}

// kernelTimeoutCase: a user's kernel that waits for a signal that no rank sends returns, and
// reports the wait.
func kernelTimeoutCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(5)
	h := symmem.Rendezvous(x)
	wait := symmem.Compile(`extern "C" __global__ void hopeful(symm::Handle h, int* x) {
		if (symm::wait_signal(h, (h.rank + 1) % h.world_size, 9)) x[0] = 1;
	}`)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		wait.Launch(symmem.Grid(1), symmem.Block(1), h, x, symmem.Timeout(100*time.Millisecond))
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "hopeful on rank 0", "a signal of rank 1 on channel 9, which never came")
		t.equal("peer", e.Peer, 1)
	}
	symmem.Recover()
	t.equal("data", x.Ints(), []int{5, 5, 5, 5})
	h.Barrier(9)
	symmem.Synchronize()
	poll := symmem.Compile(`extern "C" __global__ void poll(symm::Handle h, int* x) {
		const int peer = (h.rank + 1) % h.world_size;
		if (symm::wait_until<symm::u32>(h, h.pad(h.rank), 7, symm::kEqual, symm::kUser, peer, 0)) x[0] = 1;
	}`)
	if t.rank == 0 {
		symmem.StreamWriteValue32(h.GetSignalPad(0), 0, 6)
		poll.Launch(symmem.Grid(1), symmem.Block(1), h, x, symmem.Timeout(100*time.Millisecond))
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "poll on rank 0", "for a word of rank 1 to become 7; it is 6")
		t.equal("peer of a wait of the kernel's own", e.Peer, 1)
	}
	symmem.Recover()
	t.equal("data after both", x.Ints(), []int{5, 5, 5, 5})
	x.Free()
}

// kernelFaultCase: on the cpu device a kernel that faults causes an error. On a GPU it destroys the
// context, which the device's own tests cover.
func kernelFaultCase(t *T) {
	if symmem.GetBackend() != "CPU" {
		return
	}
	x := symmem.Empty(symmem.I32, 4).Fill(5)
	wild := symmem.CompileAt("cell[2]", 3, `extern "C" __global__ void wild(int* x, int i) {
		if (threadIdx.x == 2) *(int*)0 = i;
		x[threadIdx.x] = i;
	}`)
	wild.Launch(symmem.Grid(1), symmem.Block(4), x, 1)
	e := t.refused(symmem.KindFault, symmem.Synchronize, "cell[2]:4", "kernel wild", "thread [2 0 0]", "0x0")
	t.equal("line", e.Line, 4)
	symmem.Synchronize() // the error is reported once
	check := symmem.Compile(`
	extern "C" __global__ void check(const int* x) { assert(x[0] == 99); }`)
	check.Launch(symmem.Grid(1), symmem.Block(1), x)
	t.refused(symmem.KindFault, func() { x.Ints() }, "kernel check", "assert", "x[0] == 99")
	t.equal("the device works", x.Fill(6).Ints(), []int{6, 6, 6, 6})
	x.Free()
}

// kernelBoundsCase accesses one element outside of tensors, of their signal pads, of pads of peers
// and of the block's shared memory, in each direction in which no other object lies.
func kernelBoundsCase(t *T) {
	if symmem.GetBackend() != "CPU" {
		return
	}
	const n = 1001
	k := symmem.CompileAt("cell[4]", 1, `#include <cuda_bf16.h>
	extern "C" __global__ void touch(int* x, int i, int store, int* out) {
		if (store) x[i] = 7;
		else *out = x[i];
	}
	extern "C" __global__ void halves(__nv_bfloat16* x) { x[1000] = x[0]; }
	extern "C" __global__ void peer(symm::Handle h, int p, int i) { h.buffer<int>(p)[i] = 7; }
	extern "C" __global__ void pad(symm::Handle h, int p, int i) { h.pad(p)[i] = 7; }
	extern "C" __global__ void shared(int* out, int i) {
		extern __shared__ int s[];
		s[i] = 7;
		*out = s[i];
	}
	extern "C" __global__ void array(int* out, int i) {
		int s[40];
		for (int& v : s) v = out[0];
		*out = s[i];
	}`)
	grid, block := symmem.Grid(1), symmem.Block(1)
	out := symmem.Local(symmem.I32, 1)
	local, symmetric, half := symmem.Local(symmem.I32, 1024), symmem.Empty(symmem.I32, 1024), symmem.Empty(symmem.BF16, 2, 500)
	padded := symmem.Empty(symmem.I32, n) // 12 free bytes follow it
	h := symmem.Rendezvous(padded, symmem.LSA())
	var pooled *symmem.Tensor
	symmem.UseMemPool(func() { pooled = symmem.Local(symmem.I32, 400) }, symmem.LSA())
	for _, x := range []*symmem.Tensor{local, symmetric} {
		for store, verb := range []string{"reads", "writes"} {
			k.Kernel("touch").Launch(grid, block, x, 1024, store, out)
			t.refused(symmem.KindFault, symmem.Synchronize, "cell[4]", "touch", verb+" right behind i32[1024], where element 1024 would be")
			k.Kernel("touch").Launch(grid, block, x, -1, store, out)
			t.refused(symmem.KindFault, symmem.Synchronize, verb+" 4 bytes in front of i32[1024]")
			k.Kernel("touch").Launch(grid, block, x, 1124, store, out)
			t.refused(symmem.KindFault, symmem.Synchronize, verb+" 400 bytes behind i32[1024], where element 1124 would be")
		}
		t.equal("as it was", x.Ints(), make([]int, 1024))
	}
	k.Kernel("halves").Launch(grid, block, half)
	t.refused(symmem.KindFault, symmem.Synchronize, "writes right behind bf16[2, 500], where element 1000 would be")
	k.Kernel("touch").Launch(grid, block, pooled, 400, 1, out)
	t.refused(symmem.KindFault, symmem.Synchronize, "writes right behind i32[400], where element 400 would be")
	for i, p := range symmem.LSA().Ranks() {
		of := ""
		if p != t.rank {
			of = fmt.Sprintf(" of rank %d", p)
		}
		k.Kernel("peer").Launch(grid, block, h, i, n+3)
		t.refused(symmem.KindFault, symmem.Synchronize, "writes 12 bytes behind i32[1001]"+of+", where element 1004 would be")
		if symmem.GetBackend() == "CPU" { // up to there the memory is unused
			k.Kernel("peer").Launch(grid, block, h, i, n+16000)
			t.refused(symmem.KindFault, symmem.Synchronize, "writes 64000 bytes behind i32[1001]"+of+", where element 17001 would be")
		}
		k.Kernel("pad").Launch(grid, block, h, i, h.SignalPadSize()/4)
		t.refused(symmem.KindFault, symmem.Synchronize, "writes right behind the signal pad of a tensor of shape [1001]"+of+", where word ")
	}
	const beyond = "writes beyond the block's shared memory: an index out of an array's bounds, or more dynamic shared memory than was asked for by SharedBytes"
	k.Kernel("shared").Launch(grid, block, out, 31, symmem.SharedBytes(128))
	t.equal("the last element of shared memory", out.Ints(), []int{7})
	for _, i := range []int{32, 50000, -100000} {
		k.Kernel("shared").Launch(grid, block, out, i, symmem.SharedBytes(128))
		t.refused(symmem.KindFault, symmem.Synchronize, "cell[4]", "shared", beyond)
	}
	k.Kernel("shared").Launch(grid, block, out, 0)
	t.refused(symmem.KindFault, symmem.Synchronize, "cell[4]", "shared", beyond)
	k.Kernel("array").Launch(grid, block, out, 40)
	t.refused(symmem.KindFault, symmem.Synchronize, "kernel array", "an index out of an array's bounds")
	at := local.Ptr()
	local.Free()
	far := symmem.CompileAt("cell[5]", 1, `extern "C" __global__ void far(unsigned long long at) { *(int*)at = 7; }`)
	far.Launch(grid, block, uint64(at)+4096)
	t.refused(symmem.KindFault, symmem.Synchronize, "writes right behind i32[1024], which was freed, where element 1024 would be")
	far.Launch(grid, block, uint64(1)<<46)
	t.refused(symmem.KindFault, symmem.Synchronize, "writes address 0x400000000000, where no memory is")
	symmem.Meet()
	for _, x := range []*symmem.Tensor{symmetric, half, padded, pooled} {
		x.Free()
	}
}

// kernelBusyCase: a kernel that polls by itself, or just runs long, is reported. The cpu device
// knows what it reads.
func kernelBusyCase(t *T) {
	k := symmem.CompileAt("cell[6]", 1, `
	extern "C" __global__ void spin(volatile float* x, int i) {
		while (x[i] == 0) {}
	}
	extern "C" __global__ void work(volatile float* x, int i, int* y) {
		for (int k = 0; x[i] == 0; k = (k + 1) % 100) y[k]++;
	}
	extern "C" __global__ void inside(volatile float* x, int i) {
		__shared__ volatile int flags[2];
		flags[threadIdx.x] = 0;
		__syncthreads();
		if (threadIdx.x == 1) while (x[i] == 0) {}
		if (threadIdx.x == 1) flags[1] = 1;
		if (threadIdx.x == 0) while (flags[1] != 1) {}
	}
	extern "C" __global__ void meet(volatile float* x, int i) {
		while (!__syncthreads_or(threadIdx.x == 0 && x[i] != 0)) {}
	}`)
	x, y := symmem.Local(symmem.F32, 8), symmem.Local(symmem.I32, 100)
	symmem.Synchronize()
	t.equal("before", len(t.rt.Busy()), 0)
	other := symmem.NewStream()
	for i, c := range []struct {
		kernel string
		block  int
		more   []any
		spins  []string // finally one of them is reported, and never any other
	}{
		{"spin", 64, nil, []string{"element 0 of f32[8], which is 0, at cell[6]:3, in 64 threads"}},
		{"work", 1, []any{y}, []string{""}},
		{"inside", 2, nil, []string{
			"byte 4 of the block's shared memory, at cell[6]:14, in 2 threads", "byte 4 of the block's shared memory, at cell[6]:14",
			"element 2 of f32[8], which is 0, at cell[6]:12, in 2 threads", "element 2 of f32[8], which is 0, at cell[6]:12",
		}},
		{"meet", 64, nil, []string{"", "element 3 of f32[8], which is 0, at cell[6]:17",
			"element 3 of f32[8], which is 0, at cell[6]:17, in 64 threads"}},
	} {
		known := symmem.GetBackend() == "CPU" && os.Getenv(sanitizeVariable) == "" // the reads of watched kernels are not known
		told := func(busy []symmem.Busy) bool {
			return len(busy) == 1 && (slices.Contains(c.spins, busy[0].Spins) || !known && busy[0].Spins == "")
		}
		k.Kernel(c.kernel).Launch(symmem.Grid(1), symmem.Block(c.block), append([]any{x, i}, c.more...)...)
		var busy []symmem.Busy
		for end := time.Now().Add(20 * time.Second); !told(busy) && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			busy = t.rt.Busy()
		}
		for range 10 {
			if len(busy) != 1 || busy[0].Kernel != c.kernel || strings.Contains(busy[0].Spins, "no tensor") || busy[0].Since <= 0 {
				t.Errorf("%s: %+v", c.kernel, busy)
			}
			busy = t.rt.Busy()
		}
		symmem.OnStream(other, func() { x.Slice(i, i+1).Fill(1) })
		symmem.Synchronize()
	}
	t.equal("after", len(t.rt.Busy()), 0)
	other.Free()
	x.Free()
	y.Free()
}

// kernelSymmetricCase launches kernels with parameters that are declared symmetric, given symmetric
// tensors that were not rendezvoused, parts of them, and ordinary ones.
func kernelSymmetricCase(t *T) {
	const n = 100
	text := symmem.Compile(`
	extern "C" __global__ void by_handle(symm::Handle x, int* out, int n) {
		int* const mine = x.buffer<int>(x.rank);
		for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] += 1;
		if (!symm::barrier(x, 0)) return;
		for (int i = threadIdx.x; i < n; i += blockDim.x) {
			out[i] = 0;
			for (int p = 0; p < x.world_size; p++) out[i] += x.buffer<int>(p)[i];
		}
		symm::barrier(x, 0);
	}
	extern "C" __global__ void by_pointers(int** x, int* y, int n, int rank, int size) {
		for (int i = threadIdx.x; i < n; i += blockDim.x) x[rank][i] += y[i] + size;
	}`)
	k := text.Symmetric("x")
	t.equal("the kernel itself", text.Name() == k.Name() && text != k, true)
	pointers := text.Kernel("by_pointers").Symmetric("x").Symmetric("y")
	run := func(what string, x, out *symmem.Tensor) {
		x.CopyFrom(each(n, func(i int) int { return 10*t.rank + i }))
		k.Launch(symmem.Grid(1), symmem.Block(64), x, out, n, symmem.Timeout(20*time.Second))
		t.equal(what, out.Ints(), each(n, func(i int) int { return t.size*(i+1) + 10*t.size*(t.size-1)/2 }))
		t.equal(what+": its own", x.Ints(), each(n, func(i int) int { return 10*t.rank + i + 1 }))
		pointers.Launch(symmem.Grid(1), symmem.Block(64), x, out, n, t.rank, t.size)
		t.equal(what+" by pointers", x.Ints(), each(n, func(i int) int {
			return 10*t.rank + i + 1 + t.size + t.size*(i+1) + 10*t.size*(t.size-1)/2
		}))
	}
	out := symmem.Local(symmem.I32, n)
	x := symmem.Empty(symmem.I32, n+7)
	run("a part", x.Slice(3, n+3), out)
	run("ordinary", symmem.Local(symmem.I32, n), out)
	run("ordinary again", symmem.Local(symmem.I32, n+2).Slice(1, n+1), out)
	run("of a pool", pooled(symmem.I32, n), out)
	y := symmem.Local(symmem.I32, n).Fill(1)
	got := symmem.Explain(func() { k.Launch(symmem.Grid(1), symmem.Block(64), y, out, n) })
	if !strings.Contains(got, "launched, of a copy in symmetric memory, because its parameters are declared symmetric; 400 bytes of ordinary memory are copied") {
		t.Errorf("Explain says %q", got)
	}
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { text.Symmetric("z") }, `by_handle has no parameter "z"`, "name parameters of by_handle(")
	t.refused(misuse, func() { text.Symmetric("n") }, `"n" of by_handle(`, "is no pointer and no symm::Handle")
	t.refused(misuse, func() { text.Symmetric() }, "no parameter is named")
	t.refused(misuse, func() { text.Launch(symmem.Grid(1), symmem.Block(64), y, out, n) }, "give it the handle that Rendezvous returned", "Symmetric")
	t.refused(misuse, func() { symmem.Capture(func() { k.Launch(symmem.Grid(1), symmem.Block(64), y, out, n) }) }, "a graph would copy it in every replay")
	u := symmem.Empty(symmem.I32, n)
	t.refused(misuse, func() { symmem.Capture(func() { k.Launch(symmem.Grid(1), symmem.Block(64), u, out, n) }) }, "was not rendezvoused by world")
	t.refused(misuse, func() { pointers.Launch(symmem.Grid(1), symmem.Block(64), symmem.Local(symmem.F32, n), out, n, 0, 1) }, `cannot be the tensor f32[100]`)
	u.Free()
	x.Free()
}
