// token_wait: every block waits until the blocks of its index of all ranks have sent the rows of a dispatch.
#include "tokens/tokens.cuh"

extern "C" __global__ void __launch_bounds__(512) token_wait(const __grid_constant__ tokens::TokenArgs a) {
  using namespace symm;
  begin();
  if (a.notes.state[tokens::kVoid]) return;
  arrived(a.signals, a.context, blockIdx.x, load_relaxed(rounds(a.signals, a.context, blockIdx.x)));
}
SYMM_KERNEL(token_wait)
