// wait_signal: wait for one peer's signal on a channel and consume it; what the peer did before is visible
// to what this stream does after. One thread.
#include "signal/args.cuh"

extern "C" __global__ void wait_signal(const __grid_constant__ symm::SignalArgs a) {
  symm::begin();
  symm::wait_signal(a.signals, a.context, (int)a.peer, a.channel);
}
SYMM_KERNEL(wait_signal)
