// net_put_signal: signal a peer on another host on a channel, after all earlier work of this
// stream, unless an earlier operation gave up. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_put_signal(const __grid_constant__ symm::NetSignalArgs a) {
  symm::begin();
  symm::u32* const over = symm::gave_up(a.group, a.context);
  if (symm::load_relaxed(over)) return;
  if (!symm::put_signal(a.group, a.context, a.peer, a.channel)) symm::store_relaxed(over, 1);
}
SYMM_KERNEL(net_put_signal)
