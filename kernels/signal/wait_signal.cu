// wait_signal: wait for one peer's signal on a channel and consume it. The peer's earlier writes
// are visible to later work on this stream. If an earlier operation of the stream gave up, it does
// nothing. One thread.
#include "signal/args.cuh"

extern "C" __global__ void wait_signal(const __grid_constant__ symm::SignalArgs a) {
  symm::begin();
  symm::u32* const over = symm::gave_up(a.signals, a.context);
  if (symm::load_relaxed(over)) return;
  if (!symm::wait_signal(a.signals, a.context, (int)a.peer, a.channel)) symm::store_relaxed(over, 1);
}
SYMM_KERNEL(wait_signal)
