// by_host.cuh: the order of reductions over hosts. Values are grouped by host, however the data
// travels: first the members of a host in rank order, then the hosts in order. Every step rounds to
// the element type, or with kWide to float; avg divides once at the end. So all ranks compute the
// same bits, whether the values of a host are combined before they are sent or each is sent by
// itself.
#pragma once
#include "hosts/pipes.cuh"

namespace symm {

// by_host reduces the N elements from element e on of chunk k of all sources.
template <class A, int N>
__device__ __forceinline__ Elements<A, N> by_host(const PipeArgs& pipes, const Source* source, u32 sources, u64 k, u64 e, int world, u32 op) {
  Elements<A, N> sum, host;
  bool begun = false;
  for (u32 s = 0; s < sources; s++) {
    const Elements<A, N> next = *(const Elements<A, N>*)((const A*)source_at(pipes, source[s], k) + e);
    if (s > 0 && source[s].mark) {
      if (begun) combine(sum, host, op);
      else sum = host, begun = true;
    }
    if (source[s].mark) host = next;
    else combine(host, next, op);
  }
  if (begun) combine(sum, host, op);
  else sum = host;
  finish(sum, world, op);
  return sum;
}

}  // namespace symm
