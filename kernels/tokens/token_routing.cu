// token_routing: blocks count this rank's selections, an expert or a rank at a time, and send each
// count to all ranks as a packet. The first block receives the counts of all ranks and computes the
// places of all rows: all ranks see the same counts, so they agree whether there is room before any
// row moves.
#include "tokens/routing.cuh"

extern "C" __global__ void __launch_bounds__(512) token_routing(const __grid_constant__ tokens::TokenArgs a) {
  using namespace symm;
  begin();
  u32* const epochs = tokens::epochs(a, tokens::kRoutings);
  const u32 epoch = epochs[blockIdx.x] + 1;
  tokens::count(a, epoch);
  if (threadIdx.x == 0) epochs[blockIdx.x] = epoch;
  if (blockIdx.x != 0) return;
  tokens::settle(a, epoch, [&](const Packet* at, u32 from, Packet& q) {
    Patience patience;
    for (q = load_packet(at); q.epoch != epoch; q = load_packet(at))
      if (patience.expired(a.context, Wait{kPacket, from, 0, epoch}, q.epoch)) return false;
    patience.satisfied(a.context);
    return true;
  });
}
SYMM_KERNEL(token_routing)
