// team.cuh: teams of threads that call a function together.
//
// A function with a template parameter Team is called by all threads of a team, with the same
// arguments: symm::put<symm::Warp>(...) by the 32 threads of a warp, symm::put<symm::Thread>(...)
// by one. The default team is the block.
#pragma once
#include "symm/types.cuh"

namespace symm {

// A Thread is the calling thread alone, which is number 0 of 1.
struct Thread {
  __device__ static __forceinline__ u32 rank() { return 0; }
  __device__ static __forceinline__ u32 size() { return 1; }
  __device__ static __forceinline__ void sync() {}
  // all synchronises the team, and returns true to all its threads if all of them call it with
  // true.
  __device__ static __forceinline__ bool all(bool yes) { return yes; }
};

// A Block is all threads of the block, of up to three dimensions.
//
// Example:
//
//   if (symm::Block::rank() == 0) x[0] = (float)symm::Block::size();
//   symm::Block::sync();
struct Block {
  __device__ static __forceinline__ u32 rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  __device__ static __forceinline__ u32 size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static __forceinline__ void sync() { __syncthreads(); }
  __device__ static __forceinline__ bool all(bool yes) { return __syncthreads_and(yes); }
};

// A Warp is a full warp: 32 consecutive threads of the block.
//
// Order: sync and all order the memory accesses of the warp's threads, as __syncwarp does.
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
