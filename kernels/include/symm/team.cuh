// team.cuh: who calls a function together.
//
// A function with a template parameter Team is called by all threads of a team, with the same arguments: symm::put<symm::Warp>(...)
// by the 32 threads of a warp, symm::put<symm::Thread>(...) by one. Where none is named, it is the block.
#pragma once
#include "symm/types.cuh"

namespace symm {

struct Thread {
  __device__ static __forceinline__ u32 rank() { return 0; }
  __device__ static __forceinline__ u32 size() { return 1; }
  __device__ static __forceinline__ void sync() {}
  // all is sync, and true, for each thread of the team, if it is called with true by each.
  __device__ static __forceinline__ bool all(bool yes) { return yes; }
};

struct Block {
  __device__ static __forceinline__ u32 rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  __device__ static __forceinline__ u32 size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static __forceinline__ void sync() { __syncthreads(); }
  __device__ static __forceinline__ bool all(bool yes) { return __syncthreads_and(yes); }
};

// A Warp is whole: 32 threads that follow each other in the block.
struct Warp {
  __device__ static __forceinline__ u32 rank() { return Block::rank() % 32; }
  __device__ static __forceinline__ u32 size() { return 32; }
  __device__ static __forceinline__ void sync() { __syncwarp(); }
  __device__ static __forceinline__ bool all(bool yes) {
    yes = __all_sync(~0u, yes);
    __syncwarp();  // a vote orders no memory
    return yes;
  }
};

}  // namespace symm
