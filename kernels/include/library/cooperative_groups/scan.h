// cooperative_groups/scan.h: reduces the values of the threads of a tile or of a coalesced group up
// to the caller, with the caller's own value (inclusive) or without it (exclusive).
#pragma once
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

// inclusive_scan combines the values of the threads up to the caller, its own included. Without op
// it adds.
//
// Waits: for the threads of the group.
//
// Example:
//
//   auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
//   x[threadIdx.x] = cooperative_groups::inclusive_scan(tile, x[threadIdx.x]);
template <class Group, class T, class Op>
SYMM_GROUPS_FN T inclusive_scan(const Group& group, T v, Op op) {
  for (unsigned d = 1; d < group.size(); d *= 2) {
    const T before = group.shfl_up(v, d);
    if (group.thread_rank() >= d) v = op(before, v);
  }
  return v;
}
template <class Group, class T> SYMM_GROUPS_FN T inclusive_scan(const Group& group, T v) { return inclusive_scan(group, v, plus<T>()); }

// exclusive_scan combines the values of the threads before the caller. In the first thread it
// returns T().
//
// Waits: for the threads of the group.
template <class Group, class T, class Op>
SYMM_GROUPS_FN T exclusive_scan(const Group& group, T v, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, v, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> SYMM_GROUPS_FN T exclusive_scan(const Group& group, T v) { return exclusive_scan(group, v, plus<T>()); }

}  // namespace cooperative_groups
