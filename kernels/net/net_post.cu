// net_post: post an operation without data for a peer on another host, after all earlier work of
// this stream. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_post(const __grid_constant__ symm::NetPostArgs a) {
  symm::begin();
  if (symm::alive(a)) symm::post(a.port, a.context, (symm::u32)a.member, a.op, nullptr);
}
SYMM_KERNEL(net_post)
