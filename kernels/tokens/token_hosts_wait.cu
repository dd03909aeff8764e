// token_hosts_wait: token_wait between hosts: the tokens that partners have sent are pushed on.
#include "tokens/collect.cuh"

extern "C" __global__ void __launch_bounds__(512) token_hosts_wait(const __grid_constant__ tokens::TokenHostsArgs a) {
  symm::begin();
  if (!a.args.notes.state[tokens::kVoid]) tokens::collect(a, *a.net);
}
SYMM_KERNEL(token_hosts_wait)
