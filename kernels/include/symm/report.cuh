// report.cuh: the records by which kernels tell the host of their waits, and of why they ended.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"

namespace symm {

// Internal: publish writes a record of the Watch page, its state last.
__device__ __forceinline__ void publish(WaitRecord* to, const WaitRecord& r) {
  store_relaxed(&to->kind, r.kind);
  store_relaxed(&to->ordinal, r.ordinal);
  store_relaxed(&to->rank, r.rank);
  store_relaxed(&to->peer, r.peer);
  store_relaxed(&to->channel, r.channel);
  store_relaxed(&to->want, r.want);
  store_relaxed(&to->seen, r.seen);
  store_relaxed(&to->elapsed, r.elapsed);
  store_relaxed(&to->began, r.began);
  store_release(&to->state, r.state);
}

// Internal: report tells the host why the kernel ends. The host keeps the first report.
//
// On the cpu device: the run time writes it, so that a kernel that is stopped leaves none half written.
__device__ __forceinline__ void report(Context c, const WaitRecord& r) {
#ifdef SYMM_CPU
  symm_cpu_report(&c.watch->fault, &r, sizeof r);
#else
  if (atomicCAS(&c.watch->fault.state, (u32)kNone, (u32)kClaimed) == kNone) publish(&c.watch->fault, r);
#endif
}

}  // namespace symm
