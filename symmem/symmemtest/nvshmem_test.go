package symmemtest

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// shmemCases test kernels that include nvshmem.h, inside one host and between hosts.
var shmemCases = []testCase{
	{name: "ShmemPrograms", run: shmemProgramsCase, min: 1, many: true},
	{name: "ShmemPuts", run: shmemPutsCase, min: 1},
	{name: "ShmemAtomics", run: shmemAtomicsCase, min: 1},
	{name: "ShmemWaits", run: shmemWaitsCase, min: 1},
	{name: "ShmemCollectives", run: shmemCollectivesCase, min: 1},
	{name: "ShmemTeams", run: shmemTeamsCase, min: 1},
	{name: "ShmemTensors", run: shmemTensorsCase, min: 1},
	{name: "ShmemGraph", run: shmemGraphCase, min: 1},
	{name: "ShmemRefused", run: shmemRefusedCase, min: 1},
	{name: "ShmemMissing", run: shmemMissingCase, min: 1},
	{name: "ShmemTimeout", run: shmemTimeoutCase, min: 2},
	{name: "ShmemFound", run: shmemFoundCase, min: 2},
}

// shmemMemory is symmetric memory that all ranks have mapped.
func shmemMemory(d symmem.DType, n int) *symmem.Tensor {
	x := symmem.Empty(d, n)
	symmem.Rendezvous(x)
	return x
}

// shmemRun launches a kernel on every PE and waits until all are done.
func shmemRun(k *symmem.Kernel, name string, threads int, args ...any) {
	symmem.Meet()
	k.Kernel(name).Launch(symmem.Grid(1), symmem.Block(threads), append(args, symmem.Timeout(60*time.Second))...)
	symmem.Meet()
}

// shmemPuts puts and gets n elements by every function of a type.
const shmemPuts = `
#include <nvshmem.h>
#define RIGHT ((nvshmem_my_pe() + 1) % nvshmem_n_pes())
#define LEFT ((nvshmem_my_pe() + nvshmem_n_pes() - 1) % nvshmem_n_pes())
// Each part of from goes to the same part of to at the right neighbour, by another function.
template <class T> struct Names;
#define NAMES(NAME, TYPE)                                                                                                                  \
	template <> struct Names<TYPE> {                                                                                                       \
		static __device__ void put(TYPE* to, const TYPE* from, size_t n, uint64_t* sig) {                                                  \
			if (threadIdx.x == 0) nvshmem_##NAME##_put(to, from, n, RIGHT), nvshmem_##NAME##_put_nbi(to + n, from + n, n, RIGHT);          \
			if (threadIdx.x < 32) nvshmemx_##NAME##_put_warp(to + 2 * n, from + 2 * n, n, RIGHT), nvshmemx_##NAME##_put_nbi_warp(to + 3 * n, from + 3 * n, n, RIGHT); \
			nvshmemx_##NAME##_put_block(to + 4 * n, from + 4 * n, n, RIGHT), nvshmemx_##NAME##_put_nbi_block(to + 5 * n, from + 5 * n, n, RIGHT); \
			if (threadIdx.x == 0) nvshmem_##NAME##_put_signal(to + 6 * n, from + 6 * n, n, sig, 1, NVSHMEM_SIGNAL_ADD, RIGHT), nvshmem_##NAME##_put_signal_nbi(to + 7 * n, from + 7 * n, n, sig, 1, NVSHMEM_SIGNAL_ADD, RIGHT); \
			nvshmemx_##NAME##_put_signal_block(to + 8 * n, from + 8 * n, n, sig, 1, NVSHMEM_SIGNAL_ADD, RIGHT);                                \
			for (size_t i = threadIdx.x; i < n; i += blockDim.x) nvshmem_##NAME##_p(to + 9 * n + i, from[9 * n + i], RIGHT);               \
			if (threadIdx.x == 0) nvshmem_##NAME##_iput(to + 10 * n, from + 10 * n, 2, 2, n / 2, RIGHT), nvshmem_##NAME##_iput(to + 10 * n + 1, from + 10 * n + 1, 2, 2, n / 2, RIGHT); \
		}                                                                                                                                  \
		static __device__ void get(TYPE* to, const TYPE* from, size_t n) {                                                                 \
			if (threadIdx.x == 0) nvshmem_##NAME##_get(to, from, n, LEFT), nvshmem_##NAME##_get_nbi(to + n, from + n, n, LEFT);            \
			if (threadIdx.x < 32) nvshmemx_##NAME##_get_warp(to + 2 * n, from + 2 * n, n, LEFT), nvshmemx_##NAME##_get_nbi_warp(to + 3 * n, from + 3 * n, n, LEFT); \
			nvshmemx_##NAME##_get_block(to + 4 * n, from + 4 * n, n, LEFT), nvshmemx_##NAME##_get_nbi_block(to + 5 * n, from + 5 * n, 5 * n, LEFT); \
			if (threadIdx.x == 0) nvshmem_##NAME##_iget(to + 10 * n, from + 10 * n, 1, 1, n - 1, LEFT), to[11 * n - 1] = nvshmem_##NAME##_g(from + 11 * n - 1, LEFT); \
		}                                                                                                                                  \
	};
NAMES(int, int) NAMES(double, double) NAMES(schar, signed char) NAMES(ushort, unsigned short) NAMES(float, float) NAMES(longlong, long long)
template <class T> __device__ void run(T* from, T* to, T* back, int n, uint64_t* sig) {
	Names<T>::put(to, from, n, sig);
	if (threadIdx.x == 0) nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 3);
	nvshmemx_barrier_all_block();
	Names<T>::get(back, to, n);  // what the left neighbour has of its own left neighbour
	if (threadIdx.x == 0) nvshmem_quiet();
	nvshmemx_barrier_all_block();
}
extern "C" __global__ void i32(int* from, int* to, int* back, int n, uint64_t* sig) { run(from, to, back, n, sig); }
extern "C" __global__ void f64(double* from, double* to, double* back, int n, uint64_t* sig) { run(from, to, back, n, sig); }
extern "C" __global__ void i8(signed char* from, signed char* to, signed char* back, int n, uint64_t* sig) { run(from, to, back, n, sig); }
extern "C" __global__ void f32(float* from, float* to, float* back, int n, uint64_t* sig) { run(from, to, back, n, sig); }
extern "C" __global__ void i64(long long* from, long long* to, long long* back, int n, uint64_t* sig) { run(from, to, back, n, sig); }
// Bytes at odd places, and elements by their bits.
extern "C" __global__ void bytes(unsigned char* a, unsigned char* b, uint64_t* sig) {
	const int peer = RIGHT;
	nvshmemx_putmem_block(a + 1, b + 3, 61, peer);
	if (threadIdx.x == 0) nvshmem_putmem_signal(a + 65, b + 65, 7, sig, 5, NVSHMEM_SIGNAL_SET, peer);
	nvshmemx_put32_block((symm::u32*)(a + 128), (const symm::u32*)(b + 128), 0, peer);  // nothing
	if (threadIdx.x == 0) {
		nvshmem_put16((symm::u16*)(a + 80), (const symm::u16*)(b + 80), 4, peer);
		nvshmem_put128((symm::u128*)(a + 96), (const symm::u128*)(b + 96), 2, peer);
		nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 5);
	}
	nvshmemx_barrier_all_block();
	nvshmemx_getmem_block(b, a, 128, nvshmem_my_pe());
	if (threadIdx.x == 0 && nvshmem_ptr(a, nvshmem_my_pe()) != a) b[0] = 99;
	if (threadIdx.x == 0 && (nvshmem_ptr(a, -1) || nvshmem_ptr(a, nvshmem_n_pes()) || nvshmem_ptr(nullptr, peer) || nvshmem_ptr((void*)16, peer))) b[0] = 98;
}`

func shmemPutsCase(t *T) {
	const n = 50
	k := symmem.Compile(shmemPuts)
	sig := shmemMemory(symmem.U64, 16)
	for _, d := range []symmem.DType{symmem.I32, symmem.F64, symmem.I8, symmem.F32, symmem.I64} {
		from, to, back := symmem.Local(d, 11*n), shmemMemory(d, 11*n), symmem.Local(d, 11*n)
		value := func(rank int) []int { return series(11*n, func(i int) int { return (i*3 + rank) % 100 }) }
		from.CopyFrom(value(t.rank))
		sig.Fill(0)
		shmemRun(k, d.String(), 64, from, to, back, n, sig)
		at := func(away int) []int { return value(((t.rank-away)%t.size + t.size) % t.size) }
		t.equal(fmt.Sprintf("puts of %v", d), to.Ints(), at(1))
		t.equal(fmt.Sprintf("gets of %v", d), back.Ints(), at(2))
		to.Free()
	}
	a, b := shmemMemory(symmem.U8, 128), symmem.Local(symmem.U8, 128)
	b.CopyFrom(series(128, func(i int) int { return i + t.rank }))
	sig.Fill(0)
	shmemRun(k, "bytes", 64, a, b, sig)
	left := (t.rank + t.size - 1) % t.size
	t.equal("bytes", b.Ints(), series(128, func(i int) int {
		switch {
		case i >= 1 && i < 62:
			return i + 2 + left
		case i >= 65 && i < 72, i >= 80 && i < 88, i >= 96:
			return i + left
		}
		return 0
	}))
	a.Free()
	sig.Free()
}

const shmemAtomics = `
#include <nvshmem.h>
extern "C" __global__ void i32(int* a, int* out) {
	const int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
	nvshmem_int_atomic_set(a, 5, peer);
	nvshmem_quiet();
	*out++ = nvshmem_int_atomic_fetch(a, peer);
	*out++ = nvshmem_int_atomic_fetch_add(a, -7, peer);
	nvshmem_int_atomic_add(a, 3, peer), nvshmem_int_atomic_inc(a, peer), nvshmem_quiet();
	*out++ = nvshmem_int_atomic_fetch_inc(a, peer);
	*out++ = nvshmem_int_atomic_compare_swap(a, 4, 9, peer);
	*out++ = nvshmem_int_atomic_compare_swap(a, 3, 9, peer);
	*out++ = nvshmem_int_atomic_swap(a, -1, peer);
	*out++ = nvshmem_int_atomic_fetch(a, peer);
}
extern "C" __global__ void u64(uint64_t* a, uint64_t* out) {
	const int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
	nvshmem_uint64_atomic_set(a, 0xff00000000ffull, peer);
	nvshmem_quiet();
	*out++ = nvshmem_uint64_atomic_fetch_and(a, 0xf000000000f0ull, peer);
	*out++ = nvshmem_uint64_atomic_fetch_or(a, 6, peer);
	*out++ = nvshmem_uint64_atomic_fetch_xor(a, 2, peer);
	nvshmem_uint64_atomic_and(a, ~16ull, peer), nvshmem_quiet();
	nvshmem_uint64_atomic_or(a, 1, peer), nvshmem_quiet();
	nvshmem_uint64_atomic_xor(a, 4, peer), nvshmem_quiet();
	*out++ = nvshmem_ulonglong_atomic_fetch((unsigned long long*)a, peer);
	*out++ = nvshmem_size_atomic_fetch_add((size_t*)a, 1ull << 40, peer);
	*out++ = nvshmem_uint64_atomic_fetch(a, peer);
}
extern "C" __global__ void f64(double* a, double* out) {
	const int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
	nvshmem_double_atomic_set(a, 1.5, peer);
	nvshmem_quiet();
	*out++ = nvshmem_double_atomic_swap(a, -2.25, peer);
	*out++ = nvshmem_double_atomic_fetch(a, peer);
	*out++ = nvshmem_float_atomic_swap((float*)(a + 1), 3, peer);
	*out++ = nvshmem_float_atomic_fetch((float*)(a + 1), peer);
}
// All threads of all PEs add to one word of each PE, and take numbers of PE 0.
extern "C" __global__ void many(unsigned* a, unsigned* taken) {
	for (int p = 0; p < nvshmem_n_pes(); p++) nvshmem_uint_atomic_add(a, 2, p);
	nvshmemx_barrier_all_block();
	taken[threadIdx.x] = nvshmem_uint_atomic_fetch_inc(a + 1, 0);
}`

func shmemAtomicsCase(t *T) {
	k := symmem.Compile(shmemAtomics)
	ints, words, doubles := shmemMemory(symmem.I32, 1), shmemMemory(symmem.U64, 1), shmemMemory(symmem.F64, 2)
	i, u, f := symmem.Local(symmem.I32, 7), symmem.Local(symmem.U64, 6), symmem.Local(symmem.F64, 4)
	shmemRun(k, "i32", 1, ints, i)
	t.equal("int", i.Ints(), []int{5, 5, 2, 3, 3, 9, -1})
	t.equal("the word", ints.Ints(), []int{-1})
	shmemRun(k, "u64", 1, words, u)
	t.equal("uint64", u.Ints(), []int{0xff00000000ff, 0xf000000000f0, 0xf000000000f6, 0xf000000000e1, 0xf000000000e1, 0xf100000000e1})
	shmemRun(k, "f64", 1, doubles, f)
	t.equal("double", f.Float64s(), []float64{1.5, -2.25, 0, 3})
	const threads = 32
	many, taken := shmemMemory(symmem.U32, 2), symmem.Local(symmem.U32, threads)
	shmemRun(k, "many", threads, many, taken)
	t.equal("additions", many.Slice(0, 1).Ints(), []int{2 * threads * t.size})
	if t.rank == 0 {
		t.equal("numbers taken", many.Slice(1, 2).Ints(), []int{threads * t.size})
	}
	seen := map[int]bool{}
	for _, n := range taken.Ints() {
		if n < 0 || n >= threads*t.size || seen[n] {
			t.Errorf("number %d was taken", n)
		}
		seen[n] = true
	}
	for _, x := range []*symmem.Tensor{ints, words, doubles, many} {
		x.Free()
	}
}

const shmemWaits = `
#include <nvshmem.h>
// Words 0 to 7 become 10, 20, ... at the right neighbour, one after the other.
extern "C" __global__ void waits(int* a, long long* b, uint64_t* sig, int* out) {
	const int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
	*out++ = nvshmem_int_test(a, NVSHMEM_CMP_EQ, 10);
	*out++ = nvshmem_int_test_all(a, 8, nullptr, NVSHMEM_CMP_GE, 0);
	*out++ = nvshmem_int_test_any(a, 8, nullptr, NVSHMEM_CMP_NE, 0) == (size_t)-1;
	nvshmem_barrier_all();
	for (int i = 0; i < 8; i++) nvshmem_int_p(a + i, 10 * i + 10, peer);
	for (int i = 0; i < 4; i++) nvshmem_longlong_p(b + i, -1ll << (33 + i), peer);
	nvshmem_int_wait_until(a, NVSHMEM_CMP_EQ, 10);
	nvshmem_int_wait_until(a + 1, NVSHMEM_CMP_NE, 0);
	nvshmem_int_wait_until(a + 2, NVSHMEM_CMP_GT, 29);
	nvshmem_longlong_wait_until(b, NVSHMEM_CMP_LT, 0);
	nvshmem_longlong_wait_until(b + 1, NVSHMEM_CMP_LE, -1ll << 34);
	const int status[8] = {1, 0, 1, 0, 0, 0, 0, 1};
	nvshmem_int_wait_until_all(a, 8, status, NVSHMEM_CMP_GE, 20);
	int values[8] = {10, 20, 30, 40, 50, 60, 70, 80};
	nvshmem_int_wait_until_all_vector(a, 8, nullptr, NVSHMEM_CMP_EQ, values);
	*out++ = (int)nvshmem_int_wait_until_any(a, 8, status, NVSHMEM_CMP_GT, 0);
	values[3] = 0;
	*out++ = (int)nvshmem_int_wait_until_any_vector(a, 8, nullptr, NVSHMEM_CMP_NE, values);
	size_t found[8];
	*out++ = (int)nvshmem_int_wait_until_some(a, 8, found, status, NVSHMEM_CMP_LE, 60);
	for (int i = 0; i < 4; i++) *out++ = (int)found[i];
	*out++ = (int)nvshmem_int_test_some_vector(a, 8, found, nullptr, NVSHMEM_CMP_NE, values);
	*out++ = (int)found[0];
	*out++ = nvshmem_int_test_all_vector(a, 8, nullptr, NVSHMEM_CMP_EQ, values);
	nvshmem_int_wait_until_all(a, 0, nullptr, NVSHMEM_CMP_EQ, 7);
	nvshmemx_signal_op(sig, 3, NVSHMEM_SIGNAL_ADD, peer);
	*out++ = (int)nvshmem_signal_wait_until(sig, NVSHMEM_CMP_NE, 0);
	*out++ = (int)nvshmem_signal_fetch(sig);
	nvshmem_barrier_all();
}`

func shmemWaitsCase(t *T) {
	k := symmem.Compile(shmemWaits)
	a, b, sig, out := shmemMemory(symmem.I32, 8), shmemMemory(symmem.I64, 4), shmemMemory(symmem.U64, 1), symmem.Local(symmem.I32, 15)
	shmemRun(k, "waits", 1, a, b, sig, out)
	t.equal("results", out.Ints(), []int{0, 1, 1, 1, 3, 4, 1, 3, 4, 5, 1, 3, 0, 3, 3})
	for _, x := range []*symmem.Tensor{a, b, sig} {
		x.Free()
	}
}

const shmemCollectives = `
#include <nvshmem.h>
#define TEAM NVSHMEM_TEAM_WORLD
template <class T> __device__ void fill(T* p, int n, int by) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = (T)(i * by + nvshmem_my_pe());
	__syncthreads();
}
extern "C" __global__ void by_block(int* a, int* b, int n, int root) {
	const int pes = nvshmem_n_pes();
	fill(a, n, 2);
	nvshmemx_int_broadcast_block(TEAM, b, a, n, root);
	nvshmemx_int_fcollect_block(TEAM, b + n, a, n);
	fill(a, n * pes, 3);
	nvshmemx_int_alltoall_block(TEAM, b + n + n * pes, a, n);
	nvshmemx_int_sum_reduce_block(TEAM, b + n + 2 * n * pes, a, n);
	nvshmemx_int_max_reducescatter_block(TEAM, b + 2 * n + 2 * n * pes, a, n);
	nvshmemx_barrier_block(TEAM);
	nvshmemx_int_min_reduce_block(TEAM, a, a, n);  // in place
}
extern "C" __global__ void by_warp(int* a, int* b, int n, int root) {
	const int pes = nvshmem_n_pes();
	fill(a, n, 2);
	nvshmemx_int_broadcast_warp(TEAM, b, a, n, root);
	nvshmemx_fcollectmem_warp(TEAM, b + n, a, 4 * n);
	fill(a, n * pes, 3);
	nvshmemx_int32_alltoall_warp(TEAM, b + n + n * pes, a, n);
	nvshmemx_int_sum_reduce_warp(TEAM, b + n + 2 * n * pes, a, n);
	nvshmemx_int_max_reducescatter_warp(TEAM, b + 2 * n + 2 * n * pes, a, n);
	nvshmemx_barrier_all_warp();
	nvshmemx_int_min_reduce_warp(TEAM, a, a, n);
}
extern "C" __global__ void by_thread(int* a, int* b, int n, int root) {
	const int pes = nvshmem_n_pes();
	fill(a, n, 2);
	nvshmem_broadcastmem(TEAM, b, a, 4 * n, root);
	nvshmem_int_fcollect(TEAM, b + n, a, n);
	fill(a, n * pes, 3);
	nvshmem_alltoallmem(TEAM, b + n + n * pes, a, 4 * n);
	nvshmem_int_sum_reduce(TEAM, b + n + 2 * n * pes, a, n);
	nvshmem_int_max_reducescatter(TEAM, b + 2 * n + 2 * n * pes, a, n);
	nvshmem_barrier(TEAM);
	nvshmem_int_min_reduce(TEAM, a, a, n);
}
extern "C" __global__ void bits(unsigned* a, unsigned* b) {
	const unsigned mine = 1u << nvshmem_my_pe();
	if (threadIdx.x < 3) a[threadIdx.x] = threadIdx.x == 1 ? ~mine : mine;
	if (threadIdx.x == 3) a[3] = nvshmem_my_pe() + 1;
	__syncthreads();
	nvshmemx_uint_or_reduce_block(TEAM, b, a, 1);
	nvshmemx_uint_and_reduce_block(TEAM, b + 1, a + 1, 1);
	nvshmemx_uint_xor_reduce_block(TEAM, b + 2, a + 2, 1);
	nvshmemx_uint_prod_reduce_block(TEAM, b + 3, a + 3, 1);
}
extern "C" __global__ void floats(float* a, float* b, int n) {
	fill(a, n, 1);
	nvshmemx_float_sum_reduce_block(TEAM, b, a, n);
}`

func shmemCollectivesCase(t *T) {
	k := symmem.Compile(shmemCollectives)
	p := t.size
	sum := p * (p - 1) / 2
	for _, c := range []struct {
		name    string
		threads int
	}{{"by_block", 96}, {"by_warp", 32}, {"by_thread", 1}} {
		for _, n := range []int{1, 7, 33} {
			root := n % p
			a, b := shmemMemory(symmem.I32, n*p), shmemMemory(symmem.I32, 3*n+2*n*p)
			shmemRun(k, c.name, c.threads, a, b, n, root)
			want := series(n, func(i int) int { return 2*i + root })
			want = append(want, series(n*p, func(i int) int { return 2*(i%n) + i/n })...)
			want = append(want, series(n*p, func(i int) int { return 3*(t.rank*n+i%n) + i/n })...)
			want = append(want, series(n, func(i int) int { return 3*i*p + sum })...)
			want = append(want, series(n, func(i int) int { return 3*(t.rank*n+i) + p - 1 })...)
			t.equal(fmt.Sprintf("%s of %d", c.name, n), b.Ints(), want)
			t.equal(fmt.Sprintf("%s of %d in place", c.name, n), a.Slice(0, n).Ints(), series(n, func(i int) int { return 3 * i }))
			a.Free()
			b.Free()
		}
	}
	x, y := shmemMemory(symmem.U32, 4), shmemMemory(symmem.U32, 4)
	shmemRun(k, "bits", 32, x, y)
	product := 1
	for i := range p {
		product *= i + 1
	}
	all := 1<<p - 1
	t.equal("bits", y.Ints(), []int{all, 1<<32 - 1 - all, all, product})
	const n = 20000 // several pieces between hosts
	f, g := shmemMemory(symmem.F32, n), shmemMemory(symmem.F32, n)
	shmemRun(k, "floats", 256, f, g, n)
	t.equal("floats", g.Ints(), series(n, func(i int) int { return i*p + sum }))
	for _, x := range []*symmem.Tensor{x, y, f, g} {
		x.Free()
	}
}

func shmemTeamsCase(t *T) {
	k := symmem.Compile(`
		#include <nvshmemx.h>
		extern "C" __global__ void teams(int* a, int* out) {
			const int me = nvshmem_my_pe(), near = nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED);
			if (threadIdx.x == 0) {
				*out++ = me, *out++ = nvshmem_n_pes(), *out++ = nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD), *out++ = nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD);
				*out++ = nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED), *out++ = near, *out++ = nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE);
				*out++ = nvshmem_team_translate_pe(NVSHMEM_TEAM_SHARED, 0, NVSHMEM_TEAM_WORLD);
				*out++ = nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, me, NVSHMEM_TEAM_SHARED);
				*out++ = nvshmem_team_translate_pe(NVSHMEM_TEAM_SHARED, near, NVSHMEM_TEAM_WORLD);
				*out++ = nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID);
				a[0] = me + 1;
			}
			__syncthreads();
			nvshmemx_int_sum_reduce_block(NVSHMEM_TEAM_SHARED, a + 1, a, 1);
			nvshmemx_team_sync_block(NVSHMEM_TEAM_SHARED);
			if (threadIdx.x == 0) *out++ = a[1];
			nvshmemx_barrier_block(NVSHMEM_TEAM_WORLD);
		}`)
	a, out := shmemMemory(symmem.I32, 2), symmem.Local(symmem.I32, 12)
	shmemRun(k, "teams", 32, a, out)
	near := symmem.LSA().Ranks()
	at, sum := symmem.LSA().Rank(), 0
	for _, r := range near {
		sum += r + 1
	}
	t.equal("teams", out.Ints(), []int{t.rank, t.size, t.rank, t.size, at, len(near), len(near), near[0], at, -1, -1, sum})
	a.Free()
}

// shmemTensorsCase: the table follows the tensors that live.
func shmemTensorsCase(t *T) {
	k := symmem.Compile(`
		#include <nvshmem.h>
		struct Inside { float* p; };
		extern "C" __global__ void inside(Inside* where, float* mark) {  // a pointer that comes in memory
			const int peer = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
			nvshmem_float_p(where->p, *mark, peer);
			nvshmem_barrier_all();
		}`)
	mark := symmem.Local(symmem.F32, 1).Fill(t.rank + 1)
	left := (t.rank+t.size-1)%t.size + 1
	var kept []*symmem.Tensor
	for i := range 6 {
		x := shmemMemory(symmem.F32, 100*i+1)
		where := symmem.Local(symmem.U64, 1)
		where.CopyFrom([]uint64{uint64(x.Ptr())})
		shmemRun(k, "inside", 1, where, mark)
		t.equal("by a pointer in memory", x.Slice(0, 1).Ints(), []int{left})
		if kept = append(kept, x); i%2 == 1 {
			kept[0].Free()
			kept = kept[1:]
		}
	}
	for _, x := range kept {
		where := symmem.Local(symmem.U64, 1)
		where.CopyFrom([]uint64{uint64(x.Ptr())})
		mark.Fill(t.rank + 10)
		shmemRun(k, "inside", 1, where, mark)
		t.equal("of a tensor that was kept", x.Slice(0, 1).Ints(), []int{left + 9})
		x.Free()
	}
}

func shmemGraphCase(t *T) {
	k := symmem.Compile(`
		#include <nvshmem.h>
		extern "C" __global__ void step(int* a) {
			if (threadIdx.x == 0) nvshmem_int_atomic_add(a, nvshmem_my_pe() + 1, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
			nvshmemx_barrier_all_block();
		}`)
	a := shmemMemory(symmem.I32, 1)
	g := symmem.Capture(func() {
		for range 3 {
			k.Launch(symmem.Grid(1), symmem.Block(32), a, symmem.Timeout(60*time.Second))
		}
	})
	other := shmemMemory(symmem.I32, 8) // the table changes between the capture and the replays
	for range 2 {
		g.Replay()
	}
	symmem.Meet()
	t.equal("after replays", a.Ints(), []int{6 * ((t.rank+t.size-1)%t.size + 1)})
	shmemRun(k, "step", 32, other)
	t.equal("another tensor", other.Slice(0, 1).Ints(), []int{(t.rank+t.size-1)%t.size + 1})
	g.Free()
	a.Free()
	other.Free()
}

// shmemRefusals has calls that are refused, on line 4 of the text, with what is said.
var shmemRefusals = []struct {
	call  string
	words []string
}{
	{"nvshmem_int_p(a, 1, nvshmem_n_pes())", []string{"nvshmem_p", "there is no PE"}},
	{"nvshmem_int_p(a, 1, -1)", []string{"nvshmem_p", "there is no PE -1"}},
	{"nvshmem_putmem(out, a, 4, me)", []string{"nvshmem_put", "is not symmetric", "symm.Empty"}},
	{"nvshmem_int_put(a + 14, a, 4, me)", []string{"nvshmem_put", "16 bytes at 0x", "symmetric tensor i32[16]", "which has 8 there"}},
	{"nvshmem_getmem(out, (char*)a + 60, 5, me)", []string{"nvshmem_get", "5 bytes at 0x", "which has 4 there"}},
	{"nvshmem_putmem(a, a, (size_t)-1, me)", []string{"nvshmem_put", "reaches beyond"}},
	{"nvshmem_int_p((int*)((char*)a + 2), 1, me)", []string{"nvshmem_p", "no multiple of 4"}},
	{"nvshmem_uint64_atomic_inc((uint64_t*)(a + 1), me)", []string{"nvshmem_atomic", "no multiple of 8"}},
	{"nvshmem_int_atomic_fetch_add(out, 1, me)", []string{"nvshmem_atomic", "is not symmetric"}},
	{"nvshmem_int_atomic_set((int*)16, 1, me)", []string{"nvshmem_atomic", "0x10", "is not symmetric"}},
	{"nvshmem_int_wait_until(out, NVSHMEM_CMP_EQ, 1)", []string{"nvshmem_wait_until", "is not symmetric"}},
	{"nvshmem_int_wait_until(a, 77, 1)", []string{"nvshmem_wait_until", "no operation or comparison 77"}},
	{"nvshmemx_signal_op((uint64_t*)a, 1, 3, me)", []string{"nvshmemx_signal_op", "no operation or comparison 3", "NVSHMEM_SIGNAL_SET"}},
	{"nvshmemx_signal_op((uint64_t*)out, 1, NVSHMEM_SIGNAL_SET, me)", []string{"nvshmemx_signal_op", "is not symmetric"}},
	{"nvshmem_putmem_signal(a, a, 4, (uint64_t*)(a + 15), 1, NVSHMEM_SIGNAL_SET, me)", []string{"nvshmem_put_signal", "8 bytes at 0x", "which has 4 there"}},
	{"nvshmem_int_iput(a, a, 4, 1, 5, me)", []string{"nvshmem_iput", "68 bytes at 0x"}},
	{"nvshmem_int_iget(a, a, 0, 1, 5, me)", []string{"nvshmem_iget", "a stride must be at least 1, not 0"}},
	{"nvshmem_barrier(NVSHMEMX_TEAM_SAME_MYPE_NODE)", []string{"nvshmem_barrier", "there is no team 3", "NVSHMEM_TEAM_SHARED"}},
	{"nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, a, a, 1, 99)", []string{"nvshmem_broadcast", "there is no PE 99"}},
	{"nvshmem_team_n_pes(42)", []string{"nvshmem_team", "there is no team 42"}},
	{"nvshmem_int_p(late, 1, me)", []string{"nvshmem_p", "symmetric tensor i32[3]", "was not mapped", "symm.Rendezvous"}},
}

func shmemRefusedCase(t *T) {
	a, out, late := shmemMemory(symmem.I32, 16), symmem.Local(symmem.I32, 16), symmem.Empty(symmem.I32, 3)
	var text strings.Builder
	text.WriteString("#include <nvshmem.h>\nextern \"C\" __global__ void calls(int* a, int* out, unsigned long long address, int which) {\n  const int me = nvshmem_my_pe(); int* const late = (int*)address;\n  switch (which) {\n")
	for i, r := range shmemRefusals {
		fmt.Fprintf(&text, "  case %d: %s; break;\n", i, r.call)
	}
	text.WriteString("  }\n  out[0] = 1;\n}")
	k := symmem.CompileAt("cell", 10, text.String())
	for i, r := range shmemRefusals {
		out.Fill(0)
		k.Launch(symmem.Grid(1), symmem.Block(1), a, out, late.Ptr(), i, symmem.Timeout(60*time.Second))
		e := t.refused(symmem.KindMisuse, symmem.Synchronize, append(r.words, fmt.Sprintf("cell:%d", 14+i))...)
		t.equal("line of "+r.call, []any{e.File, e.Line, e.Op}, []any{"cell", 14 + i, "calls"})
		t.equal("the kernel ended at "+r.call, out.Slice(0, 1).Ints(), []int{0})
		symmem.Recover()
	}
	a.Free()
	late.Free()
}

// shmemMissingCase compiles on one rank, since a text that is refused is not kept.
func shmemMissingCase(t *T) {
	if t.rank != 0 {
		return
	}
	for call, words := range map[string]string{
		"nvshmem_malloc(16)": "symm.Empty", "nvshmem_team_split_strided(0, 0, 1, 2, x, 0, x)": "symm.NewGroup",
		"nvshmemx_barrier_all_on_stream(0)": "h.Barrier",
	} {
		e := t.refused(symmem.KindCompile, func() {
			symmem.CompileAt("cell", 1, "#include <nvshmem.h>\nextern \"C\" __global__ void f(int* x) {\n  "+call+";\n}")
		}, words)
		if !strings.Contains(e.Error(), "cell:3") {
			t.Errorf("%s: %v does not name line 3", call, e)
		}
	}
}

// shmemTimeoutCase: a wait that cannot end ends with the deadline, and leaves the tensors whole.
func shmemTimeoutCase(t *T) {
	k := symmem.Compile(`
		#include <nvshmem.h>
		extern "C" __global__ void word(uint64_t* sig, int* out) {
			nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 7);
			out[0] = 1;
		}
		extern "C" __global__ void meet(uint64_t* sig, int* out) {
			if (nvshmem_my_pe() != 0) return;
			nvshmemx_barrier_all_block();
			out[0] = 1;
		}`)
	sig, out := shmemMemory(symmem.U64, 1), symmem.Local(symmem.I32, 1)
	k.Launch(symmem.Grid(1), symmem.Block(1), sig, out, symmem.Timeout(200*time.Millisecond))
	t.refused(symmem.KindTimeout, symmem.Synchronize, "word", "a word of nvshmem's, which is 0 and is compared with 7")
	t.equal("after the wait", out.Ints(), []int{0})
	symmem.Recover()
	k.Kernel("meet").Launch(symmem.Grid(1), symmem.Block(32), sig, out, symmem.Timeout(200*time.Millisecond))
	if t.rank == 0 {
		t.refused(symmem.KindTimeout, symmem.Synchronize, "meet", "to come to nvshmem's barrier")
	} else {
		symmem.Synchronize()
	}
	t.equal("after the barrier", out.Ints(), []int{0})
	symmem.Recover()
	sig.Free()
}

// shmemFoundCase: the sanitizer finds a fence, a wait or a quiet that is missing, and names the line.
func shmemFoundCase(t *T) {
	if symmem.GetBackend() != "CPU" || t.size > 2 {
		return // on GPUs it finds accesses out of bounds only; two ranks show all
	}
	defer t.rt.Sanitize(os.Getenv(sanitizeVariable) != "", 0)
	k := symmem.CompileAt("cell[5]", 1, `#include <nvshmem.h>
#define RIGHT ((nvshmem_my_pe() + 1) % nvshmem_n_pes())
extern "C" __global__ void right(int* a, uint64_t* sig, int* out) {
  nvshmem_int_put_nbi(a, out, 4, RIGHT);
  nvshmem_fence();
  nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_SET, RIGHT);
  nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 1);
  out[8] = a[1];
  nvshmem_barrier_all();
}
extern "C" __global__ void no_fence(int* a, uint64_t* sig, int* out) {
  nvshmem_int_put_nbi(a, out, 4, RIGHT);
  nvshmemx_signal_op(sig, 1, NVSHMEM_SIGNAL_SET, RIGHT);
  nvshmem_signal_wait_until(sig, NVSHMEM_CMP_EQ, 1);
  out[8] = a[1];
  nvshmem_barrier_all();
}
extern "C" __global__ void no_wait(int* a, uint64_t* sig, int* out) {
  nvshmem_int_put_signal(a, out, 4, sig, 1, NVSHMEM_SIGNAL_SET, RIGHT);
  out[8] = a[1];
  nvshmem_barrier_all();
}`)
	a, sig, out := shmemMemory(symmem.I32, 4), shmemMemory(symmem.U64, 1), symmem.Local(symmem.I32, 9)
	for _, c := range []struct {
		name string
		line int // of an access of a race; 0: there is none
	}{{"right", 0}, {"no_fence", 15}, {"no_wait", 20}} {
		lines := map[int]bool{}
		for seed := range int64(6) { // orders
			t.rt.Sanitize(true, seed)
			a.CopyFrom(make([]int, 4))
			sig.CopyFrom(make([]int, 1))
			out.CopyFrom(make([]int, 9))
			shmemRun(k, c.name, 1, a, sig, out)
			found := t.rt.Findings()
			t.rt.Sanitize(false, 0)
			for _, f := range found {
				for _, a := range f.Accesses {
					lines[a.Line] = true
				}
			}
			if c.line == 0 && len(found) > 0 {
				t.Errorf("%s: found %v", c.name, found)
			}
		}
		if c.line > 0 && !lines[c.line] {
			t.Errorf("%s: found nothing at line %d, but %v", c.name, c.line, lines)
		}
	}
	a.Free()
	sig.Free()
}
