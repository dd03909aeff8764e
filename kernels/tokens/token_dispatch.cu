// token_dispatch: warps copy parts of this rank's tokens to their rows at the ranks of the experts,
// by stores of 16 bytes. Then the blocks with the same index on all ranks meet. A token is sent
// once to each rank, into the row of its first expert there; the block that met its sender then
// copies it to the rows of the token's other experts.
#include "tokens/push.cuh"

using namespace symm;
using namespace tokens;

// announce is the half of a barrier that does not wait.
__device__ __forceinline__ void announce(const TokenArgs& a) {
  u32* const count = rounds(a.signals, a.context, blockIdx.x);
  __syncthreads();
  const u32 round = load_relaxed(count) + 1;
  arrive(a.signals, a.context, blockIdx.x, round);
  __syncthreads();
  if (threadIdx.x == 0) store_relaxed(count, round);
}

extern "C" __global__ void __launch_bounds__(512) token_dispatch(const __grid_constant__ TokenArgs a) {
  begin();
  if (a.notes.state[kVoid]) return;
  if (a.manner & kMeet && !barrier(a.signals, a.context, blockIdx.x)) return;
  push_own(a, [](u32) { return true; });
  if (a.manner & kSplit) announce(a);
  else if (barrier(a.signals, a.context, blockIdx.x) && by_expert(a)) replicate(a);
}
SYMM_KERNEL(token_dispatch)
