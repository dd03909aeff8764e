// token_wait: every block waits until the blocks with its index on all ranks have sent the rows of
// a dispatch, and completes the dispatch.
#include "tokens/tokens.cuh"

extern "C" __global__ void __launch_bounds__(512) token_wait(const __grid_constant__ tokens::TokenArgs a) {
  using namespace symm;
  begin();
  if (a.notes.state[tokens::kVoid]) return;
  const bool ok = arrived(a.signals, a.context, blockIdx.x, load_relaxed(rounds(a.signals, a.context, blockIdx.x)));
  if (__syncthreads_and(ok) && tokens::by_expert(a)) tokens::replicate(a);
}
SYMM_KERNEL(token_wait)
