// cooperative_groups/reduce.h: reduces the values of the threads of a tile or of a coalesced group.
// All of them get the result. This header also works with the toolkit's cooperative_groups.h; the
// toolkit's own reduce.h needs a C++ library.
#pragma once
#include "cooperative_groups.h"

#define SYMM_GROUPS_FN __device__ __forceinline__

namespace cooperative_groups {

// The operations of reduce and the scans.
#define SYMM_GROUPS_OPERATION(name, expression) \
  template <class T> struct name { SYMM_GROUPS_FN T operator()(T a, T b) const { return expression; } };
SYMM_GROUPS_OPERATION(plus, a + b)
SYMM_GROUPS_OPERATION(less, b < a ? b : a)
SYMM_GROUPS_OPERATION(greater, a < b ? b : a)
SYMM_GROUPS_OPERATION(bit_and, a & b)
SYMM_GROUPS_OPERATION(bit_or, a | b)
SYMM_GROUPS_OPERATION(bit_xor, a ^ b)
#undef SYMM_GROUPS_OPERATION

// reduce combines the values of all threads of a group by op, such as
// cooperative_groups::plus<float>().
//
// Waits: for the threads of the group.
//
// Example:
//
//   auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
//   const float sum = cooperative_groups::reduce(tile, x[threadIdx.x], cooperative_groups::plus<float>());
//   if (tile.thread_rank() == 0) x[0] = sum;
//
// A tile larger than a warp is reduced on the cpu device, and on GPUs where the toolkit is not
// installed: the toolkit's tiles do not show the memory by which their warps meet.
template <unsigned Size, class Parent, class T, class Op>
SYMM_GROUPS_FN T reduce(const thread_block_tile<Size, Parent>& tile, T v, Op op) {
  if constexpr (Size > 32) {
    for (int d = 16; d > 0; d /= 2) v = op(v, __shfl_xor_sync(~0u, v, d));
    return tile.combine(v, op);
  } else {
#pragma unroll
    for (unsigned d = Size / 2; d > 0; d /= 2) v = op(v, tile.shfl_xor(v, d));
    return v;
  }
}
template <class T, class Op>
SYMM_GROUPS_FN T reduce(const coalesced_group& group, T v, Op op) {
  T sum = group.shfl(v, 0);
  for (unsigned i = 1; i < group.size(); i++) sum = op(sum, group.shfl(v, i));
  return sum;
}

}  // namespace cooperative_groups
