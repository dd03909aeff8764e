// put_signal: signal one peer on a channel, after all earlier work of this stream, unless an
// earlier operation gave up. One thread.
#include "signal/args.cuh"

extern "C" __global__ void put_signal(const __grid_constant__ symm::SignalArgs a) {
  symm::begin();
  symm::u32* const over = symm::gave_up(a.signals, a.context);
  const symm::u32 is_over = symm::load_relaxed(over);  // the load overlaps with the fence
  symm::fence();
  if (is_over) return;
  if (!symm::put_fenced(a.signals, a.context, (int)a.peer, a.channel)) symm::store_relaxed(over, 1);
}
SYMM_KERNEL(put_signal)
