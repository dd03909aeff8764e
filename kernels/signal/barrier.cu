// barrier: all ranks of the group meet on a channel of its signal block. One block of at least one
// warp.
#include "symm.cuh"

struct BarrierArgs {
  symm::Context context;
  symm::Signals signals;
  symm::u64 channel;
};
SYMM_LAYOUT(BarrierArgs, context, signals, channel)

extern "C" __global__ void barrier(const __grid_constant__ BarrierArgs a) {
  symm::begin();
  if (!symm::barrier(a.signals, a.context, (symm::u32)a.channel) && threadIdx.x == 0) symm::store_relaxed(symm::gave_up(a.signals, a.context), 1);
}
SYMM_KERNEL(barrier)
