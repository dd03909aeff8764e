// signal.cuh: signals between two ranks of a group, one bit each, consumed by the wait.
//
// The protocol. A group has one signal block, an array of 32-bit words, in every rank's memory. The
// receiver's block has one slot for each channel and source:
//
//   slot[channel][src]   0: free; 1: from the put of src until the receiver's wait
//
// A put fences, which makes it a release, and swaps 0 for 1 in the peer's slot. A wait polls its
// own slot with acquire order and sets it to 0. The signal takes the latency of one message; the
// put waits for the result of its swap while the peer already goes on. If a link has no atomics,
// the put reads the slot and then stores, which is safe because no other rank stores 1 there.
//
// Ordering. A rank's writes before its put are visible to the peer after the peer's wait. When a
// put returns, the peer has consumed the previous signal. The peer's writes before that wait need
// not be visible to the sender, so a receiver that wants to publish data answers with a signal. A
// second put before the peer's wait polls the slot over the link until the first signal is
// consumed.
//
// After a wait has given up. The operations put_signal, wait_signal and barrier note in a word of
// their rank's own signal block that they gave up. Later puts and waits in the rank's streams then
// do nothing until the host clears the block. Otherwise a put that the program placed after the
// wait would release another rank of the same deadlock, which would then not report it.
#pragma once
#include "symm/wait.cuh"

namespace symm {

// Internal: Signals are the group's signal blocks, one in each rank's memory. barrier.cuh describes
// the words behind the slots.
struct Signals { u32* block[kMaxRanks]; };
SYMM_LAYOUT(Signals, block)

// Internal: slot returns the word of a signal.
__device__ __forceinline__ u32* slot(const Signals& s, Context c, int owner, u32 channel, int src) {
  return s.block[owner] + channel * (u32)c.ranks() + (u32)src;
}

// Internal: gave_up returns the word behind the rounds of barrier.cuh. It is not 0 after an
// operation of this rank has given up.
__device__ __forceinline__ u32* gave_up(const Signals& s, Context c) {
  return s.block[c.rank] + c.channels * (2 * (u32)c.ranks() + 1);
}

// Internal: counters returns the kCounters 64-bit words behind gave_up, which count completions
// inside the host: see remote.cuh.
__device__ __forceinline__ u64* counters(const Signals& s, Context c) {
  return (u64*)(s.block[c.rank] + ((c.channels * (2 * (u32)c.ranks() + 1) + 2) & ~1u));
}

// Internal: raise sets a slot in another rank's memory to 1 if it is 0, and returns its previous
// value.
__device__ __forceinline__ u32 raise(Context c, u32* theirs) {
  if (c.swaps) return swap_relaxed(theirs, 0, 1);
  const u32 seen = load_relaxed(theirs);
  if (seen == 0) store_relaxed(theirs, 1);
  return seen;
}

// Internal: put_fenced is put_signal after a fence.
__device__ __forceinline__ bool put_fenced(const Signals& s, Context c, int dst, u32 channel) {
  u32* const theirs = slot(s, c, dst, channel, c.rank);
  Patience patience;
  for (u32 seen; (seen = raise(c, theirs)) != 0;) {
    endless(c);
    if (patience.expired(c, Wait{kConsumed, (u32)dst, channel, 0}, seen)) return false;
  }
  patience.satisfied(c);
  return true;
}

// put_signal: one thread signals dst on a channel. It returns false if it gave up because dst has
// not consumed the previous signal.
__device__ __forceinline__ bool put_signal(const Signals& s, Context c, int dst, u32 channel) {
  fence();
  return put_fenced(s, c, dst, channel);
}

// wait_signal: one thread waits for the signal of src on a channel and consumes it. It returns
// false if it gave up; the slot is then unchanged.
__device__ __forceinline__ bool wait_signal(const Signals& s, Context c, int src, u32 channel) {
  u32* const mine = slot(s, c, c.rank, channel, src);
  if (!wait_until<u32>(c, mine, 1, kEqual, kSignal, (u32)src, channel)) return false;
  store_relaxed(mine, 0);
  return true;
}

}  // namespace symm
