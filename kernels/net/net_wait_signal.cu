// net_wait_signal: wait for the signal of a peer on another host on a channel and consume it. The
// data that the peer put here before is visible to later work on this stream. If an earlier
// operation of the stream gave up, it does nothing. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_wait_signal(const __grid_constant__ symm::NetSignalArgs a) {
  symm::begin();
  symm::u32* const over = symm::gave_up(a.group, a.context);
  if (symm::load_relaxed(over)) return;
  if (!symm::wait_signal(a.group, a.context, a.peer, a.channel)) symm::store_relaxed(over, 1);
}
SYMM_KERNEL(net_wait_signal)
