// line.cuh: lines of 128 bytes that carry their own flag, moved by eight lanes of a warp.
//
// The protocol. A line is 120 bytes of data and an epoch, at a multiple of 128. Eight lanes store
// it by one instruction, 16 bytes each, and load it likewise. Epochs and banks work as for packets
// (packet.cuh), and the warp votes on the epochs that its lanes have seen. Of the bytes on a link,
// 15/16 are data with lines, and 3/4 with packets.
//
// Assumptions. The protocol needs more than the memory model promises: the stores of one
// instruction to one line arrive together, and the loads of one instruction see them together. GPUs
// behave so over NVLink; NCCL's LL128 relies on the same (src/device/prims_ll128.h, and
// src/graph/tuning.cc for the conditions under which NCCL enables it). symmem uses lines if every
// member is a Hopper GPU or newer and reaches its peers by NVLink, and packets otherwise. The cpu
// device stores the epoch last and reads it first.
#pragma once
#include "symm/order.cuh"

namespace symm {

// Piece is one lane's 16 bytes of a line. In the eighth of eight lanes the second word is the
// epoch.
struct alignas(16) Piece { u64 word[2]; };

// carries_epoch reports whether this lane, of a one-dimensional block, is the eighth of its eight
// lanes.
__device__ __forceinline__ bool carries_epoch() { return (threadIdx.x & 7) == 7; }

// store_line: all lanes of a warp store their pieces of four lines, each lane at its own place
// `to`.
//
// Order: the data and the epoch of a line arrive together, on Hopper GPUs over NVLink. Other
// accesses are not ordered.
//
// Waits: for nothing.
//
// Cost: an all-reduce of 1048576 bytes by lines takes 8.74 us on 4 H200s in a captured graph
// (docs/benchmarks.md, All-reduce).
//
// On the cpu device: the epoch is stored last, after the other lanes' data.
//
// Example:
//
//   symm::Piece* const inbox = h.buffer<symm::Piece>(peer);
//   symm::store_line(inbox + threadIdx.x, symm::Piece{{1, 2}}, channel + 1);
__device__ __forceinline__ void store_line(Piece* to, Piece p, u32 epoch) {
  if (carries_epoch()) p.word[1] = epoch;
#ifdef SYMM_CPU
  __atomic_store_n(&to->word[0], p.word[0], __ATOMIC_RELAXED);
  if (!carries_epoch()) __atomic_store_n(&to->word[1], p.word[1], __ATOMIC_RELAXED);
  __syncwarp();
  symm_cpu_scope(2);
  if (carries_epoch()) __atomic_store_n(&to->word[1], p.word[1], __ATOMIC_RELEASE);
#else
  asm volatile("st.volatile.global.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(p.word[0]), "l"(p.word[1]) : "memory");
#endif
}

// load_line: all lanes of a warp load their pieces once. *seen is the line's epoch in the lanes
// that hold it, and `want` in the others. All data has arrived if *seen is the expected epoch in
// every lane.
//
// Waits: for nothing.
//
// On the cpu device: every lane gets the epoch, which it reads before the data.
//
// Example:
//
//   symm::u32 seen;
//   symm::Piece p;
//   do p = symm::load_line(h.buffer<symm::Piece>(h.rank) + threadIdx.x, channel + 1, &seen);
//   while (!__all_sync(~0u, seen == channel + 1));
//   x[threadIdx.x] = (float)p.word[0];
__device__ __forceinline__ Piece load_line(const Piece* from, u32 want, u32* seen) {
  Piece p;
#ifdef SYMM_CPU
  symm_cpu_scope(2);
  *seen = (u32)__atomic_load_n(&(from + (7 - (threadIdx.x & 7)))->word[1], __ATOMIC_ACQUIRE);
  p.word[0] = __atomic_load_n(&from->word[0], __ATOMIC_RELAXED), p.word[1] = __atomic_load_n(&from->word[1], __ATOMIC_RELAXED);
#else
  asm volatile("ld.volatile.global.v2.u64 {%0,%1}, [%2];" : "=l"(p.word[0]), "=l"(p.word[1]) : "l"(from) : "memory");
  *seen = carries_epoch() ? (u32)p.word[1] : want;
#endif
  return p;
}

}  // namespace symm
