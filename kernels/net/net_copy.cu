// net_copy: post a put to a peer on another host, or a get from one, and wait until it is complete
// on this side: later work on this stream may overwrite the source of the put, or read the data of
// the get. A get sees the data of this rank's earlier puts to that peer. One thread.
#include "net/args.cuh"

// carried posts an operation and waits for its completion. It returns false if it gave up.
static __device__ bool carried(const symm::NetPostArgs& a, symm::NetOp op) {
  symm::NetTicket ticket;
  bool whole;
  const symm::u32 member = (symm::u32)a.member;
  if (!symm::post(a.port, a.context, member, op, &ticket) || !symm::landed(a.port, a.context, member, ticket, symm::kNetCounter, &whole)) return false;
  if (!whole) symm::lose(a.context, symm::Wait{symm::kNetCounter, member, 0, ticket.number + 1});
  return whole;
}

extern "C" __global__ void net_copy(const __grid_constant__ symm::NetPostArgs a) {
  symm::begin();
  if (!symm::alive(a)) return;
  if (a.op.kind == symm::kNetGet) {
    symm::NetOp fence = {};
    fence.kind = symm::kNetFence;
    fence.peer = a.op.peer;
    if (!carried(a, fence)) return;
  }
  carried(a, a.op);
}
SYMM_KERNEL(net_copy)
