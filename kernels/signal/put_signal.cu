// put_signal: signal one peer on a channel, after everything this stream did before. One thread.
#include "signal/args.cuh"

extern "C" __global__ void put_signal(const __grid_constant__ symm::SignalArgs a) {
  symm::begin();
  symm::put_signal(a.signals, a.context, (int)a.peer, a.channel);
}
SYMM_KERNEL(put_signal)
