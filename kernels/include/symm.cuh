// symm.cuh: symmetric memory for kernels. Every snippet includes it before its first line, on both devices.
//
// A kernel takes a symm::Handle by value. The handle knows the rank, the size of the group, every rank's copy of one tensor, and
// the words by which ranks signal each other. A kernel reaches a peer's data through its pointer, h.buffer<T>(peer), and meets
// peers in one of these ways, from the plainest to the quickest:
//
//   symm::barrier(h, channel)                       all ranks, by one block of each
//   symm::put_signal, symm::wait_signal             one peer, one bit, consumed by the wait
//   symm::put_with_signal, symm::wait_for_signal    data, and then a 64-bit word of the tensor's own pad
//   symm::store_packet, symm::load_packet           12 bytes of data together with their flag
//   symm::store_line, symm::load_line               120 bytes of data together with their flag, by eight lanes
//
// Every wait returns a bool. It is false when the host aborts the call or the deadline passes: the wait has then recorded who
// waited for what, and the kernel should return without touching user data. No wait traps, so the GPU's context and
// everybody's tensors survive a deadlock. A kernel that polls words of its own uses symm::Patience to have the same.
//
// The protocols are explained where they are implemented:
//
//   symm/signal.cuh    put_signal, wait_signal       symm/order.cuh     loads and stores with acquire and release order
//   symm/barrier.cuh   barrier                       symm/wait.cuh      wait_until, Patience
//   symm/packet.cuh    packets of 16 bytes           symm/context.cuh   rank, deadline, and the page the host reads
//   symm/line.cuh      lines of 128 bytes            symm/float16.cuh   symm::f16, symm::bf16
//   symm/kernel.cuh    how the operations of symmrepl write a kernel
//
// symm/multimem.cuh, for NVLink multicast, and symm/net.cuh, for peers on other hosts, have to be included by name. None of these
// headers needs a file.
#pragma once
#include "symm/barrier.cuh"
#include "symm/float16.cuh"
#include "symm/kernel.cuh"
#include "symm/line.cuh"
#include "symm/packet.cuh"

namespace symm {

struct NetGroup;

// Handle is one tensor, rendezvoused by a group, as symm.Rendezvous returned it. Pass it to a kernel whose parameter is
// symm::Handle.
struct Handle : Context {
  u64 bytes;      // of the tensor
  u64 pad_bytes;  // of its signal pad
  char* buffers[kMaxRanks];
  u32* pads[kMaxRanks];
  Signals signals;
  const NetGroup* net;  // of a group that spans hosts, or 0
  u32 window;           // of the data between hosts; that of the pads is the next one
  u32 reserved;

  // buffer<T>(p) is rank p's copy of the tensor.
  template <class T> __device__ __forceinline__ T* buffer(int p) const { return (T*)buffers[p]; }
  // pad(p) is rank p's pad of this tensor: pad_bytes/4 words, zero when allocated, for the kernel to use as it likes.
  __device__ __forceinline__ u32* pad(int p) const { return pads[p]; }
  // word(p, i) is the i-th 64-bit signal of rank p's pad.
  __device__ __forceinline__ u64* word(int p, u32 i) const { return (u64*)pads[p] + i; }
};
SYMM_LAYOUT(Handle, bytes, pad_bytes, buffers, pads, signals, net, window)

// barrier: all threads of one block of every rank meet on a channel. What any of them wrote before it is visible to all of
// them after it. Blocks that meet at the same time use different channels. False if it gave up.
__device__ __forceinline__ bool barrier(const Handle& h, u32 channel) { return barrier(h.signals, h, channel); }

// put_signal: one thread signals dst on a channel; what it wrote before is visible to dst after the wait. It waits until dst
// has consumed the signal before. False if it gave up.
__device__ __forceinline__ bool put_signal(const Handle& h, int dst, u32 channel) { return put_signal(h.signals, h, dst, channel); }

// wait_signal: one thread waits for the signal of src on a channel and consumes it. False if it gave up.
__device__ __forceinline__ bool wait_signal(const Handle& h, int src, u32 channel) { return wait_signal(h.signals, h, src, channel); }

// copy: the threads of a block copy n bytes, 16 at a time where both addresses are multiples of 16.
__device__ __forceinline__ void copy(void* dst, const void* src, u64 n) {
  u64 done = 0;
  if ((((u64)dst | (u64)src) & 15) == 0) {
    done = n & ~15ull;
    for (u64 i = threadIdx.x * 16ull; i < done; i += blockDim.x * 16ull) *(uint4*)((char*)dst + i) = *(const uint4*)((const char*)src + i);
  }
  for (u64 i = done + threadIdx.x; i < n; i += blockDim.x) ((char*)dst)[i] = ((const char*)src)[i];
}

// put_with_signal: the threads of a block copy n bytes into dst's copy of the tensor, at byte offset, and then set 64-bit
// signal i of dst to value. Whoever waits for that value sees the bytes. It does not wait for dst.
__device__ __forceinline__ void put_with_signal(const Handle& h, int dst, u64 offset, const void* src, u64 n, u32 i, u64 value) {
  copy(h.buffers[dst] + offset, src, n);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    store_release(h.word(dst, i), value);
  }
}

// wait_for_signal: one thread waits until its own 64-bit signal i equals value, or with at_least is not below it. The signal
// keeps its value. False if it gave up.
__device__ __forceinline__ bool wait_for_signal(const Handle& h, u32 i, u64 value, bool at_least) {
  return wait_until<u64>(h, h.word(h.rank, i), value, at_least ? kAtLeast : kEqual, kWord, (u32)h.rank, i);
}

}  // namespace symm
