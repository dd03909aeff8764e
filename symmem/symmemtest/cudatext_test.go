package symmemtest

import "github.com/symmrepl/symmrepl/symmem"

// Texts from elsewhere: headers and functions that kernels of other projects use.

// atomicsCase: cuda::atomic, cuda::atomic_ref and __nv_atomic_* of 1 to 8 bytes.
func atomicsCase(t *T) {
	k := symmem.Compile(`
#include <cuda/atomic>
#include <cuda/std/atomic>
#define PUT(v) out[at++] = (long long)(v)
template <class T, cuda::thread_scope S> __device__ void refs(T* p, long long* out, int at) {
  cuda::atomic_ref<T, S> r(*p);
  r.store(5, cuda::memory_order_release); PUT(r.load(cuda::memory_order_acquire)); PUT(r.fetch_add(250, cuda::memory_order_acq_rel)); PUT(r.load()); PUT(r.fetch_sub(3, cuda::memory_order_relaxed));
  PUT(r.exchange(12)); PUT(r.fetch_or(3)); PUT(r.fetch_and(9)); PUT(r.fetch_xor(1)); PUT(r.fetch_min(4)); PUT(r.fetch_max(100));
  T want = 99; PUT(r.compare_exchange_strong(want, 7)); PUT(want); PUT(r.compare_exchange_weak(want, 7, cuda::memory_order_acq_rel, cuda::memory_order_acquire)); PUT(++r); PUT(r += 2); PUT(p[1]);
}
__global__ void sizes(unsigned long long* m, long long* out) {  // words with neighbours that do not change
  unsigned char* a = (unsigned char*)m; unsigned short* b = (unsigned short*)(m + 1); unsigned* c = (unsigned*)(m + 2); unsigned long long* d = m + 4;
  a[0] = a[2] = 11, b[0] = b[2] = 12, c[1] = 13, d[1] = 14;
  refs<unsigned char, cuda::thread_scope_system>(a + 1, out, 0);
  refs<unsigned short, cuda::thread_scope_device>(b + 1, out, 16);
  refs<unsigned, cuda::thread_scope_block>(c, out, 32);
  refs<unsigned long long, cuda::thread_scope_thread>(d, out, 48);
  int at = 64; PUT(a[0]); PUT(b[0]);
}
__device__ cuda::atomic<int, cuda::thread_scope_device> counter{3};
__device__ cuda::std::atomic<unsigned> flag;
__global__ void objects(long long* out) {  // of several blocks
  __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> count;
  if (threadIdx.x == 0) count.store(0);
  __syncthreads();
  count.fetch_add(1, cuda::std::memory_order_relaxed), counter++;
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd((unsigned long long*)out, (unsigned long long)count.load());
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    if (flag.fetch_add(1) == gridDim.x - 1) out[1] = counter.load(), out[2] = (long long)flag.exchange(9);
  }
}
__global__ void builtin(unsigned* p, long long* out) {
  int at = 0;
  unsigned v = 3, was = 0, want = 4;
  __nv_atomic_store_n(p, 5u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM); PUT(__nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM));
  __nv_atomic_store(p, &v, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE); __nv_atomic_load(p, &was, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK); PUT(was);
  PUT(__nv_atomic_fetch_add(p, 4u, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM)); PUT(__nv_atomic_fetch_sub(p, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)); PUT(__nv_atomic_fetch_or(p, 8u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE));
  PUT(__nv_atomic_fetch_and(p, 12u, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)); PUT(__nv_atomic_fetch_xor(p, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)); PUT(__nv_atomic_fetch_max(p, 50u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
  PUT(__nv_atomic_fetch_min(p, 9u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE)); PUT(__nv_atomic_exchange_n(p, 4u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
  PUT(__nv_atomic_compare_exchange_n(p, &want, 6u, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)); PUT(__nv_atomic_compare_exchange_n(p, &want, 7u, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)); PUT(want);
  __nv_atomic_add(p, 10u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM); __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM); PUT(*p);
}`)
	m, out := symmem.Local(symmem.U64, 8).Fill(0), symmem.Local(symmem.I64, 66).Fill(0)
	k.Kernel("sizes").Launch(symmem.Grid(1), symmem.Block(1), m, out)
	one := func(next int) []int { return []int{5, 5, 255, 255, 252, 12, 15, 9, 8, 4, 0, 100, 1, 8, 10, next} }
	var want []int
	for _, next := range []int{11, 12, 13, 14} {
		want = append(want, one(next)...)
	}
	t.equal("atomic_ref", out.Ints(), append(want, 11, 12))
	out.Fill(0)
	k.Kernel("objects").Launch(symmem.Grid(4), symmem.Block(64), out)
	t.equal("atomic", out.Ints()[:3], []int{256, 259, 4})
	k.Kernel("builtin").Launch(symmem.Grid(1), symmem.Block(1), symmem.Local(symmem.U32, 1), out)
	t.equal("__nv_atomic", out.Ints()[:14], []int{5, 3, 3, 7, 6, 14, 12, 13, 50, 9, 1, 0, 6, 16})
}

// cudaTextCase: headers of C++ and CUDA that kernels of other projects include.
func cudaTextCase(t *T) {
	k := symmem.Compile(`
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda_fp4.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
namespace cg = cooperative_groups;
template <class T> __device__ std::enable_if_t<std::is_integral<T>::value, int> kind(T) { return std::is_signed_v<T> ? 1 : 2; }
template <class T> __device__ std::enable_if_t<std::is_floating_point_v<T>, int> kind(T) { return 3; }
static_assert(std::is_same_v<std::decay_t<const int(&)[3]>, const int*> && std::is_same<std::make_unsigned_t<long long>, unsigned long long>::value, "");
static_assert(std::is_convertible_v<int, float> && !std::is_convertible_v<int*, float> && std::is_base_of_v<std::true_type, std::is_same<int, int>>, "");
static_assert(std::is_trivially_copyable_v<float4> && cuda::std::is_same_v<std::conditional_t<true, int, float>, std::remove_cvref_t<const int&>>, "");
__global__ void traits(long long* out) {
  int at = 0;
#define PUT(v) out[at++] = (long long)(v)
  PUT(kind(1)); PUT(kind(std::uint8_t(1))); PUT(kind(1.f));
  PUT(std::numeric_limits<int>::max()); PUT(std::numeric_limits<int>::min()); PUT(std::numeric_limits<std::uint16_t>::max()); PUT(std::numeric_limits<long long>::lowest()); PUT(cuda::std::numeric_limits<signed char>::min());
  PUT(std::numeric_limits<float>::max() > 3e38f); PUT(std::numeric_limits<float>::lowest() < -3e38f); PUT(-std::numeric_limits<double>::infinity() < -1e300); PUT(1 + std::numeric_limits<float>::epsilon() > 1); PUT(std::numeric_limits<int>::digits);
  int a = 1, b = 2; std::swap(a, b); PUT(10 * a + b); PUT(std::exchange(a, 7) + a); PUT(std::move(b)); std::pair<int, float> p = std::make_pair(3, 4.f); PUT(p.first + p.second);
  cudaGridDependencySynchronize(); cudaTriggerProgrammaticLaunchCompletion();
  const float f[] = {0, 0.25f, 0.26f, 0.75f, 1.25f, 1.75f, 2.5f, 2.6f, 3.5f, 4.75f, 5, 5.1f, 1e9f, -1.5f, -0.f};
  for (float v : f) PUT((int)__nv_fp4_e2m1(v).__x);
  for (int i = 0; i < 16; i++) { __nv_fp4_e2m1 v; v.__x = (unsigned char)i; PUT(2 * (float)v); }
  const float4 q = (float4)__nv_fp4x4_e2m1(make_float4(1, -2, 3, 6)); PUT(q.x * 1000 + q.y * -100 + q.z * 10 + q.w);
  PUT(at);
}
__global__ void tiles(int* out, const int* in) {  // of a block of 256 threads
  __shared__ int copy[256];
  __shared__ cg::block_tile_memory<256> memory;
  auto block = cg::this_thread_block(memory);
  cg::memcpy_async(block, copy, in, sizeof(int) * 256);
  cg::wait(block);
  auto tile = cg::tiled_partition<128>(block);
  auto small = cg::tiled_partition<64>(block);
  const int me = (int)block.thread_rank();
  out += 8 * me;
  out[0] = copy[255 - me], out[1] = (int)(tile.thread_rank() * 100 + tile.meta_group_rank() * 10 + tile.meta_group_size());
  out[2] = tile.shfl(me, 70), out[4] = small.any(me == 70), out[5] = small.all(me >= 64);
#ifdef SYMM_CPU
  out[3] = cg::reduce(tile, me, cg::plus<int>()), out[6] = cg::reduce(small, me, cg::greater<int>());
#else  // the toolkit's tiles larger than a warp can be reduced only by its own header, which needs a C++ library
  out[3] = me / 128 * 128 * 128 + 127 * 64, out[6] = me / 64 * 64 + 63;
#endif
  block.sync();
  copy[me] = me;
  tile.sync();
  out[7] = copy[me ^ 127];
}`)
	out := symmem.Local(symmem.I64, 64).Fill(0)
	k.Kernel("traits").Launch(symmem.Grid(1), symmem.Block(1), out)
	want := []int{
		1, 2, 3, 1<<31 - 1, -1 << 31, 65535, -1 << 63, -128, 1, 1, 1, 1, 31, 21, 9, 1, 7,
		0, 0, 1, 2, 2, 4, 4, 5, 6, 6, 6, 7, 7, 11, 8,
		0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12, 1236,
	}
	t.equal("traits", out.Ints()[:len(want)+1], append(want, len(want)))
	const threads = 256
	rows := symmem.Local(symmem.I32, 8*threads).Fill(0)
	k.Kernel("tiles").Launch(symmem.Grid(1), symmem.Block(threads), rows, symmem.Local(symmem.I32, threads).Arange())
	got := rows.Ints()
	is := func(b bool) int { return map[bool]int{true: 1}[b] }
	for me := range threads {
		first, small := me&^127, me&^63
		t.equal("tiles", got[8*me:8*me+8], []int{threads - 1 - me, me%128*100 + me/128*10 + 2, first + 70, 128*first + 127*64,
			is(small == 64), is(small >= 64), small + 63, me ^ 127})
	}
}
