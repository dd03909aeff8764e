// net_get: post a get from a peer on another host and wait until the data is here, for what this stream does after. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_get(const __grid_constant__ symm::NetPostArgs a) {
  symm::begin();
  symm::NetTicket ticket;
  bool whole;
  if (!symm::post_alive(a, &ticket) || !symm::landed(a.port, a.context, (symm::u32)a.member, ticket, symm::kNetCounter, &whole)) return;
  if (!whole) symm::lose(a.context, symm::Wait{symm::kNetCounter, (symm::u32)a.member, 0, ticket.number + 1});
}
SYMM_KERNEL(net_get)
