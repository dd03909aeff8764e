// signal_add: add to a 64-bit word of a peer, after all earlier work of this stream. One thread.
#include "symm.cuh"

struct SignalAddArgs {
  symm::u64* word;  // the peer's signal
  symm::u64 value;
};
SYMM_LAYOUT(SignalAddArgs, word, value)

extern "C" __global__ void signal_add(const __grid_constant__ SignalAddArgs a) {
  symm::begin();
  symm::fence();
  atomicAdd_system(a.word, a.value);
}
SYMM_KERNEL(signal_add)
