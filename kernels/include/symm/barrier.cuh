// barrier.cuh: the barrier between one block of every rank of a group.
//
// The protocol. The signal block holds, behind the slots of signal.cuh, two kinds of words that
// count up and are never reset while ranks run:
//
//   arrival[channel][src]   in every rank's memory: the last round at which src has arrived
//   rounds[channel]         in a rank's own memory: how many barriers the rank has passed on the channel
//
// A rank stores its next round into every peer's arrival word and polls its own words until all
// peers have arrived at that round. A fast peer may be at most one round ahead, because the round
// after that needs this rank. One fence before the stores makes them releases; the polls are
// acquires. A block may also arrive at a round before it has waited for the previous one; then a
// peer may be up to three rounds ahead.
#pragma once
#include "symm/signal.cuh"

namespace symm {

// Internal: arrival and rounds return the words.
__device__ __forceinline__ u32* arrival(const Signals& s, Context c, int owner, u32 channel, int src) {
  return s.block[owner] + (c.channels + channel) * (u32)c.ranks() + (u32)src;
}
__device__ __forceinline__ u32* rounds(const Signals& s, Context c, u32 channel) {
  return s.block[c.rank] + 2 * c.channels * (u32)c.ranks() + channel;
}

// arrive and arrived are the halves of a barrier, for a block that has work between them.
//
// arrive: all threads of a block, after a __syncthreads, announce that the block has arrived at a
// round. The caller counts the rounds of the channel.
//
// Order: release. The block's earlier writes are visible to the ranks after their arrived.
//
// Waits: for nothing.
//
// Cost: a fence and one store to each peer.
__device__ __forceinline__ void arrive(const Signals& s, Context c, u32 channel, u32 round) {
  if ((int)threadIdx.x >= c.ranks()) return;
  fence();
  for (int p = (int)threadIdx.x; p < c.ranks(); p += (int)blockDim.x)
    if (p != c.rank) store_relaxed(arrival(s, c, p, channel, c.rank), round);
}

// arrived: all threads of a block wait until every rank has arrived at a round. The caller has to
// combine the results by __syncthreads_and.
//
// Order: acquire.
//
// Waits: for every member of the group.
__device__ __forceinline__ bool arrived(const Signals& s, Context c, u32 channel, u32 round) {
  bool ok = true;
  for (int p = (int)threadIdx.x; p < c.ranks(); p += (int)blockDim.x)
    if (p != c.rank) ok = ok && wait_until<u32>(c, arrival(s, c, c.rank, channel, p), round, kRound, kBarrier, (u32)p, channel);
  return ok;
}

// barrier: called by all threads of one block of every rank. Their writes before the barrier are
// visible to all of them after it. The block may have any size; with fewer threads than ranks a
// thread serves several peers. It returns false, to all threads of the block, if it gave up.
__device__ __forceinline__ bool barrier(const Signals& s, Context c, u32 channel) {
  bool ok = true;
  u32* const count = rounds(s, c, channel);
  u32 round = 0;
  __syncthreads();
  if ((int)threadIdx.x < c.ranks()) {
    round = load_relaxed(count) + 1;
    arrive(s, c, channel, round);
    ok = arrived(s, c, channel, round);
  }
  ok = __syncthreads_and(ok);
  if (threadIdx.x == 0 && ok) store_relaxed(count, round);
  return ok;
}

}  // namespace symm
