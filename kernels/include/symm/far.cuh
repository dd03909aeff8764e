// far.cuh: the functions by which remote.cuh reaches members on other hosts. A kernel inside one host
// calls none of them, and on the cpu device they are compiled once for all modules: see SYMM_ONCE.
#pragma once
#include "symm/remote.cuh"

#ifndef SYMM_ONCE_ELSEWHERE
namespace symm {

__device__ SYMM_ONCE bool useless(const NetGroup& g, Context c, u32 member) {
  constexpr u32 kLook = 16;  // each check reads the host's memory
  const u64 posted = load_relaxed(g.port.posted);
  if (posted % kLook != 0) return false;
  const Wait w{kNetFlush, member, 0, posted};
  Patience patience;
  if (!lost(g.port, g.members[member].rank)) return patience.aborted(c, w, posted);
  patience.lose(c, w, posted);
  return true;
}

__device__ SYMM_ONCE bool post_far(const NetGroup& g, Context c, u32 member, NetKind kind, u32 window, u64 local, u64 offset, u64 bytes, SignalOp s, Counter counter) {
  if (useless(g, c, member)) return false;
  NetOp op = {};
  op.kind = kind;
  op.peer = g.members[member].rank;
  op.window = window;
  (kind == kNetValue ? op.data : op.local) = local;
  op.offset = offset;
  op.bytes = bytes;
  op.signal = s.kind;
  op.strong = s.strong;
  op.signal_window = window + 1;
  op.signal_at = 8ull * s.index;
  op.value = s.value;
  return post(g.port, c, member, op, nullptr, counter.id == kNoCounter ? kNetNoCounter : kNetCounters + first_counter(g, c) + counter.id);
}

__device__ SYMM_ONCE bool wait_posted(const NetGroup& g, Context c) {
  const u64 posted = load_relaxed(g.port.posted);
  const Wait w{kNetFlush, (u32)c.rank, 0, posted};
  Patience patience;
  u64 done;
  while ((i64)((done = load_acquire(&g.port.board->done)) - posted) < 0)
    if (patience.expired(c, w, done)) return false;
  patience.satisfied(c);
  const int gone = lost_of(g, c, kAnyMember);
  if (gone >= 0) lose(c, Wait{kNetFlush, (u32)gone, 0, posted});
  return gone < 0;
}

__device__ SYMM_ONCE bool far_barrier(const NetGroup& g, Context c, u32 channel) { return barrier(g, c, channel); }
__device__ SYMM_ONCE bool far_put_signal(const NetGroup& g, Context c, u32 dst, u32 channel) { return put_signal(g, c, dst, channel); }
__device__ SYMM_ONCE bool far_wait_signal(const NetGroup& g, Context c, u32 src, u32 channel) { return wait_signal(g, c, src, channel); }
__device__ SYMM_ONCE bool far_wait_for_signal(const NetGroup& g, Context c, const u64* word, u64 value, Compare compare, u32 i) {
  return net_wait<u64>(g, c, word, value, compare, kAnyFarMember, Wait{kWord, (u32)c.rank, i, value});
}

}  // namespace symm
#endif
