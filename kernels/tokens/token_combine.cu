// token_combine: every block takes the same tokens, or parts of tokens, of all ranks. It stores the
// rows that this rank's experts made of these tokens in slots of the ranks that the tokens came
// from, meets the blocks with its index on the other ranks, and sums the rows in its own rank's
// slots: in the order of the selections, or of the ranks, as float.
#include "tokens/sums.cuh"

using namespace symm;
using namespace tokens;

template <class T>
__device__ __forceinline__ void combine_tokens(const TokenArgs& a) {
  const u64 bytes = a.hidden * sizeof(T);
  const u32 units = (u32)(bytes / 16);
  const Portion s = portion_of(a, units);
  u32* const combines = epochs(a, kCombines);
  const u32 epoch = combines[blockIdx.x], bank = epoch & 1;
  each_part(s, units, [&](u32 t, u32 first, u32 n) {
    each_row(a, t, first, n, [&](u32 owner, u32 j, u64 row, u32 at, u32 count) {
      move(slot(a, owner, bank, t, j, bytes) + at * 16, (const char*)a.in + row * bytes + at * 16, count);
    });
  });
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  if (threadIdx.x == 0) combines[blockIdx.x] = epoch + 1;
  each_part(s, units, [&](u32 t, u32 first, u32 n) {
    if (t < a.tokens) sum<T>(a, bank, t, first, n, bytes);
  });
}

extern "C" __global__ void __launch_bounds__(512) token_combine(const __grid_constant__ TokenArgs a) {
  begin();
  if (a.notes.state[kVoid]) return;
  if (a.element == kTokenF32) combine_tokens<float>(a);
  else if (a.element == kTokenF16) combine_tokens<f16>(a);
  else combine_tokens<bf16>(a);
}
SYMM_KERNEL(token_combine)
