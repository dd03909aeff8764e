// kernel.cuh: how the operations of symmrepl write a kernel: its registration, its dtypes, a thread's share of the work, and how it
// begins and refuses. A snippet needs none of it, but may be a changed copy of an operation.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"

// SYMM_KERNEL(name) ends every built-in kernel. It registers the kernel on the cpu device; on a GPU the name alone is enough.
#ifdef SYMM_CPU
#define SYMM_KERNEL(name) CPU_KERNEL(#name, name)
#else
#define SYMM_KERNEL(name)
#endif

// SYMM_FOR_DTYPES applies a macro to (type, suffix) for every dtype that computes; fp8 is storage. For a GPU one dtype is
// compiled at a time: package kernels defines SYMM_ONLY.
#ifdef SYMM_ONLY
#define SYMM_FOR_DTYPES(M) SYMM_ONLY(M)
#else
#define SYMM_FOR_DTYPES(M)                                                                           \
  M(symm::f16, f16) M(symm::bf16, bf16) M(float, f32) M(double, f64) M(symm::i8, i8) M(symm::u8, u8) \
  M(symm::i32, i32) M(symm::u32, u32) M(symm::i64, i64) M(symm::u64, u64)
#endif

namespace symm {

// u128 is a word of 16 bytes, for copies.
struct alignas(16) u128 { u64 low, high; };

// SYMM_EACH(i, n) { ... } is the calling thread's part of n pieces of work, among the threads of a grid of one dimension.
// SYMM_SHARE(i, n, me, all) is the same for thread number me of all. On a GPU threads take turns, so that the accesses of a warp
// lie together. On the cpu device a thread runs alone until it waits, so each has one stretch.
#ifdef SYMM_CPU
__device__ __forceinline__ u64 part(u64 n, u64 me, u64 all) {
  const u64 at = (n + all - 1) / all * me;
  return at < n ? at : n;
}
#define SYMM_SHARE(i, n, me, all) for (symm::u64 i = symm::part(n, me, all), i##_end = symm::part(n, me + 1, all); i < i##_end; i++)
#else
#define SYMM_SHARE(i, n, me, all) for (symm::u64 i = me; i < n; i += all)
#endif
#define SYMM_EACH(i, n) SYMM_SHARE(i, n, blockIdx.x * (symm::u64)blockDim.x + threadIdx.x, gridDim.x * (symm::u64)blockDim.x)

// begin is the first statement of a kernel that is launched to overlap with its predecessor. It returns when everything that the
// stream did before is done and visible, and it lets the next kernel be brought up. Only the cost of the launch overlaps; no
// other work of the two kernels does.
__device__ __forceinline__ void begin() {
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// leave ends the kernel for the calling thread, after a call that was refused or a wait that gave up, so that it stores nothing more. On the cpu device the whole
// block ends. Threads that have left are not waited for by __syncthreads; nor are blocks by a barrier of the grid on the cpu device, but on GPUs.
__device__ __forceinline__ void leave() {
#ifdef SYMM_CPU
  symm_cpu_leave();
#else
  asm volatile("exit;");
#endif
}

// refuse reports a value in device memory that an operation cannot work with: what is the operation's own number for it,
// index its place in the list of rank. The host keeps the first report.
__device__ __forceinline__ void refuse(Context c, u32 what, u32 rank, u32 index, u64 value, u64 limit) {
  WaitRecord* r = &c.watch->fault;
  if (atomicCAS(&r->state, (u32)kNone, (u32)kClaimed) != kNone) return;
  store_relaxed(&r->kind, what);
  store_relaxed(&r->ordinal, c.ordinal);
  store_relaxed(&r->rank, (u32)c.rank);
  store_relaxed(&r->peer, rank);
  store_relaxed(&r->channel, index);
  store_relaxed(&r->want, limit);
  store_relaxed(&r->seen, value);
  store_release(&r->state, kRefused);
}

}  // namespace symm
