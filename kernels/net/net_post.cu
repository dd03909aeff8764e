// net_post: post an operation for a peer on another host, after everything this stream did before. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_post(const __grid_constant__ symm::NetPostArgs a) {
  symm::begin();
  symm::post_alive(a, nullptr);
}
SYMM_KERNEL(net_post)
