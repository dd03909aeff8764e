// patience.cuh: what symm::Patience does in waits that last: it looks at the host's page, publishes the
// wait there, and gives up. On the cpu device it is compiled once for all modules: see SYMM_ONCE.
#pragma once
#include "symm/report.cuh"
#include "symm/wait.cuh"

#ifndef SYMM_ONCE_ELSEWHERE
namespace symm {

__device__ SYMM_ONCE void Patience::withdraw(Context c) {
  for (int i = 0; i < kMaxWaits; i++)
    if (published_ >> i & 1) store_relaxed(&c.watch->waits[i].state, kNone);
  published_ = 0;
}

__device__ SYMM_ONCE void Patience::give_up(Context c, Wait w, u64 seen, u64 elapsed, u32 state) {
  report(c, record(c, w, seen, elapsed, state));
  satisfied(c);
}

__device__ SYMM_ONCE bool Patience::look(Context c, Wait w, u64 seen) {
  u64 now = now_ns();
  if (start_ == 0) start_ = now;
  u64 elapsed = now - start_;
  u32 word = load_relaxed(&c.watch->abort);
  bool aborted = word & kAbort;
  bool late = c.timeout_ns != 0 && elapsed >= c.timeout_ns;
  if (aborted || late) {
    give_up(c, w, seen, elapsed, aborted ? kAborted : kTimeout);
    return true;
  }
  if (elapsed > kQuiet || word & kTrace) {
    publish(&c.watch->waits[w.peer % kMaxWaits], record(c, w, seen, elapsed, kPending));
    published_ |= 1ull << w.peer % kMaxWaits;
  }
  return false;
}

}  // namespace symm
#endif
