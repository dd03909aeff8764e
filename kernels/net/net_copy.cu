// net_copy: post a put to a peer on another host, or a get from one, and wait until this side is over: what this stream does after
// may overwrite what was put, or read what was got. A get comes after what this rank put to that peer before. One thread.
#include "net/args.cuh"

// carried posts an operation and waits for its completion. False if it gave up.
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
