// wait_for_signal: wait until a 64-bit word of this rank equals a value, or is not below it. The
// word keeps its value. One thread.
#include "symm.cuh"

struct WaitForSignalArgs {
  symm::Context context;
  const symm::u64* word;
  symm::u64 value;
  symm::u32 index;     // of the word in its pad, for messages
  symm::u32 at_least;  // 0: ==, 1: >=
};
SYMM_LAYOUT(WaitForSignalArgs, context, word, value, index, at_least)

extern "C" __global__ void wait_for_signal(const __grid_constant__ WaitForSignalArgs a) {
  symm::begin();
  symm::wait_until<symm::u64>(a.context, a.word, a.value, a.at_least ? symm::kAtLeast : symm::kEqual, symm::kWord, (symm::u32)a.context.rank, a.index);
}
SYMM_KERNEL(wait_for_signal)
