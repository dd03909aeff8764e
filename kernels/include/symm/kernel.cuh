// kernel.cuh: helpers for the kernels of symmrepl's own operations: registration, dtypes, a
// thread's share of the work, begin and refuse. A snippet does not need them, except if it is a
// changed copy of an operation.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"
#include "symm/report.cuh"

// SYMM_KERNEL(name) ends every built-in kernel. It registers the kernel on the cpu device; on a GPU
// the name alone is enough.
#ifdef SYMM_CPU
#define SYMM_KERNEL(name) CPU_KERNEL(#name, name)
#else
#define SYMM_KERNEL(name)
#endif

// SYMM_FOR_DTYPES applies a macro to (type, suffix) for every dtype with arithmetic, which the
// 8-bit floats lack. For a GPU one dtype is compiled at a time: package kernels defines SYMM_ONLY.
#ifdef SYMM_ONLY
#define SYMM_FOR_DTYPES(M) SYMM_ONLY(M)
#else
#define SYMM_FOR_DTYPES(M)                                                                           \
  M(symm::f16, f16) M(symm::bf16, bf16) M(float, f32) M(double, f64) M(symm::i8, i8) M(symm::u8, u8) \
  M(symm::i32, i32) M(symm::u32, u32) M(symm::i64, i64) M(symm::u64, u64)
#endif

namespace symm {

// u128 is a word of 16 bytes, for copies: at an address that is a multiple of 16.
struct alignas(16) u128 { u64 low, high; };

// SYMM_EACH(i, n) { ... } is the calling thread's part of n pieces of work, among the threads of a
// grid of one dimension. SYMM_SHARE(i, n, me, all) is the part of thread number me of all. On a GPU
// the parts are interleaved, so that the accesses of a warp are adjacent. On the cpu device a
// thread runs alone until it waits, so each thread gets one contiguous part.
//
// On the cpu device: each thread gets consecutive pieces; on a GPU neighbours get neighbouring
// ones.
//
// Example:
//
//   SYMM_EACH(i, n) x[i] = 2 * x[i];
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

// begin is the first statement of a kernel whose launch overlaps with its predecessor. It returns
// when all earlier work of the stream is done and visible, and it allows the next kernel to start
// launching. Only the cost of the launch overlaps; the other work of the two kernels does not.
//
// Waits: for the earlier work of the stream.
//
// On the cpu device: nothing, because launches do not overlap.
//
// Example:
//
//   symm::begin();
//   x[threadIdx.x] = 1;
__device__ __forceinline__ void begin() {
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// leave ends the kernel for the calling thread, after a refused call or a wait that gave up, so
// that the thread stores nothing more. __syncthreads does not wait for threads that have left.
//
// On the cpu device: the whole block ends, and a barrier of the grid does not wait for blocks that
// have left; on a GPU it does.
//
// Example:
//
//   if (peer < 0) symm::leave();
//   x[0] = 1;
__device__ __forceinline__ void leave() {
#ifdef SYMM_CPU
  symm_cpu_leave();
#else
  asm volatile("exit;");
#endif
}

// Internal: refuse reports a value in device memory that an operation cannot use. `what` is the
// operation's number for the reason, index is the place of the value in the list of rank. The host
// keeps the first report.
__device__ __forceinline__ void refuse(Context c, u32 what, u32 rank, u32 index, u64 value, u64 limit) {
  report(c, {kRefused, what, c.ordinal, (u32)c.rank, rank, index, limit, value, 0, 0, 0});
}

}  // namespace symm
