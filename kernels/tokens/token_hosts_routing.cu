// token_hosts_routing: token_routing between hosts. The last block that has counted puts the
// packets of its rank to the ranks of other hosts.
#include "tokens/hosts.cuh"
#include "tokens/routing.cuh"

extern "C" __global__ void __launch_bounds__(512) token_hosts_routing(const __grid_constant__ tokens::TokenHostsArgs a) {
  using namespace symm;
  using namespace tokens;
  begin();
  const TokenArgs& s = a.args;
  const Context& c = s.context;
  const NetGroup g = *a.net;
  u32* const routings = epochs(s, kRoutings);
  const u32 epoch = routings[blockIdx.x] + 1;
  count(s, epoch);
  if (last_block(a)) {
    const Packet* const own = inbox(s, c.rank, (u32)c.rank, epoch);
    const u64 at = (const char*)own - (const char*)s.signals.block[c.rank];
    bool ok = true;
    for (u32 p = threadIdx.x; ok && p < (u32)c.ranks(); p += blockDim.x)
      if (!near(s, p)) ok = put(a, g, p, a.window + 1, at, own, (items(s) + 1) * sizeof(Packet)) && raise(a, g, p, kCounted, epoch);
  }
  __syncthreads();
  if (threadIdx.x == 0) routings[blockIdx.x] = epoch;
  if (blockIdx.x != 0 || !all_came(a, g, kCounted, epoch)) return;
  settle(s, epoch, [&](const Packet* at, u32 from, Packet& q) {
    const Wait w{kPacket, from, 0, epoch};
    Patience patience;
    for (q = load_packet(at); q.epoch != epoch; q = load_packet(at)) {
      if (patience.expired(c, w, q.epoch)) return false;
      if (!patience.looked() || lost_of(g, c, kAnyMember) < 0) continue;
      patience.lose(c, Wait{kPacket, (u32)lost_of(g, c, kAnyMember), 0, epoch}, q.epoch);
      return false;
    }
    patience.satisfied(c);
    return true;
  });
}
SYMM_KERNEL(token_hosts_routing)
