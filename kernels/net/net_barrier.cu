// net_barrier: all ranks of a group that spans hosts meet on a channel; after it, the data of all
// their earlier puts is in place. One block of at least one warp.
#include "net/args.cuh"

extern "C" __global__ void net_barrier(const __grid_constant__ symm::NetSignalArgs a) {
  symm::begin();
  if (!symm::barrier(a.group, a.context, a.channel) && threadIdx.x == 0) symm::store_relaxed(symm::gave_up(a.group, a.context), 1);
}
SYMM_KERNEL(net_barrier)
