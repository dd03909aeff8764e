// Blocks and threads that publish for others: the last block, one thread for all, one block for all.
#include <cuda/atomic>

#include "symm.cuh"

// https://github.com/AMD-AGI/Primus-Turbo/pull/482, https://github.com/ROCm/triton/pull/745: one thread
// signals for the block before the others have stored their part.
//
// symm: test one_thread_signals_wrong
// x symmetric i32[128]
// out i32[128]
// pass<false><<<1, 128>>>(handle(x), out)
// expect finding race between ranks
//
// symm: test one_thread_signals_right
// x symmetric i32[128]
// out i32[128]
// pass<true><<<1, 128>>>(handle(x), out)
// expect out == (rank + size - 1) % size
template <bool right> __global__ void pass(symm::Handle h, int* out) {
  const int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size;
  h.buffer<int>(next)[threadIdx.x] = h.rank;
  if (right) __syncthreads();
  if (threadIdx.x == 0) symm::put_signal(h, next, 0), symm::wait_signal(h, last, 0);
  __syncthreads();
  out[threadIdx.x] = h.buffer<int>(h.rank)[threadIdx.x];
}

// https://github.com/NVIDIA/cccl/pull/10627: a block counts itself as done while some of its threads have
// not added their part; the last block reads the parts.
//
// symm: test counted_too_early_wrong
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<1><<<4, 64>>>(part, counts, out)
// expect finding race between blocks
//
// symm: test counted_too_early_right
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<0><<<4, 64>>>(part, counts, out)
// expect out == 256

// https://github.com/NVIDIA/Fuser/pull/2391: the block's semaphore is released without a fence.
//
// symm: test no_fence_before_the_count_wrong
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<2><<<4, 64>>>(part, counts, out)
// expect finding order too weak
//
// symm: test no_fence_before_the_count_right
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<0><<<4, 64>>>(part, counts, out)
// expect out == 256

// https://github.com/NVIDIA/cuml/issues/4157: only the thread that counts has a fence, and it stands before
// the barrier of the block: it does not cover what the other threads wrote.
//
// symm: test fence_of_one_thread_wrong
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<3><<<4, 64>>>(part, counts, out)
// expect finding order too weak
//
// symm: test fence_of_one_thread_right
// ranks 1, 2
// part u32[256]
// counts u32[1]
// out u32[1]
// last_block<0><<<4, 64>>>(part, counts, out)
// expect out == 256

// https://github.com/local-inference-lab/b12x/pull/295: a counter that is never reset wraps around, and
// "(count + 1) % blocks == 0" finds the last block only if the number of blocks divides 2^32.
//
// symm: test count_wraps_wrong
// ranks 1, 2
// part u32[192]
// counts u32[1] = 4294967289
// out u32[1]
// last_block<4><<<3, 64>>>(part, counts, out) repeat 3
// expect finding race between blocks
//
// symm: test count_wraps_right
// ranks 1, 2
// part u32[192]
// counts u32[1]
// out u32[1]
// last_block<0><<<3, 64>>>(part, counts, out) repeat 3
// expect out == 192
template <int wrong> __global__ void last_block(volatile unsigned* part, unsigned* counts, unsigned* out) {
  __shared__ unsigned last;
  if (wrong == 1 && threadIdx.x == 0) __threadfence(), last = atomicAdd(counts, 1) == gridDim.x - 1;
  ((unsigned*)part)[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (wrong == 3 && threadIdx.x == 0) __threadfence();
  __syncthreads();
  if ((wrong == 0 || wrong == 4) && threadIdx.x == 0) __threadfence();
  if (wrong == 4 && threadIdx.x == 0) last = (atomicAdd(counts, 1) + 1) % gridDim.x == 0;
  if (wrong != 1 && wrong != 4 && threadIdx.x == 0) {
    last = atomicAdd(counts, 1) == gridDim.x - 1;
    if (last) *counts = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int i = 0; i < gridDim.x * blockDim.x; i++) sum += ((unsigned*)part)[i];
    *out = sum;
  }
}

// https://github.com/ROCm/aiter/pull/4007: blocks add to a histogram, meet at a barrier of their own and
// read it. Without a fence before the barrier a block may see a part of the histogram.
//
// symm: test histogram_without_fence_wrong
// ranks 1, 2
// bins u32[64]
// counts u32[1]
// out u32[256]
// histogram<false><<<4, 64>>>(bins, counts, out)
// expect finding order too weak
//
// symm: test histogram_without_fence_right
// ranks 1, 2
// bins u32[64]
// counts u32[1]
// out u32[256]
// histogram<true><<<4, 64>>>(bins, counts, out)
// expect out == 4
template <bool right> __global__ void histogram(unsigned* bins, unsigned* counts, unsigned* out) {
  atomicAdd(bins + threadIdx.x, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (right) __threadfence();
    atomicAdd(counts, 1);
    while (*(volatile unsigned*)counts < gridDim.x) {}
    if (right) __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = bins[threadIdx.x];
}

// https://github.com/flashinfer-ai/flashinfer/pull/4742: of two places that count a stored tile, the one
// inside of the loop has no fence.
//
// symm: test fence_on_one_path_wrong
// ranks 1, 2
// tiles f32[128]
// counts u32[2]
// out f32[128]
// split<false><<<2, 64>>>(tiles, counts, out)
// expect finding order too weak
//
// symm: test fence_on_one_path_right
// ranks 1, 2
// tiles f32[128]
// counts u32[2]
// out f32[128]
// split<true><<<2, 64>>>(tiles, counts, out)
// expect out == i / 64 + 1
template <bool right> __global__ void split(float* tiles, unsigned* counts, float* out) {
  if (blockIdx.x == 0) {
    for (int t = 0; t < 2; t++) {
      tiles[64 * t + threadIdx.x] = t + 1;
      __syncthreads();
      if (threadIdx.x == 0 && (right || t == 1)) __threadfence();
      if (threadIdx.x == 0) atomicAdd(counts + t, 1);
    }
    return;
  }
  for (int t = 0; t < 2; t++) {
    if (threadIdx.x == 0) while (atomicAdd(counts + t, 0) == 0) {}
    if (threadIdx.x == 0) __threadfence();
    __syncthreads();
    out[64 * t + threadIdx.x] = tiles[64 * t + threadIdx.x];
  }
}

// https://github.com/ROCm/rocm-systems/pull/8936: block 0 alone waits for the peers' signals. Without a
// barrier of the blocks behind that, the others read what has not come. The review asked whether the
// barrier could go; the answer is this race.
//
// symm: test one_block_waits_wrong
// x symmetric f32[256]
// counts u32[1]
// out f32[256]
// reduce<false><<<4, 64>>>(handle(x), counts, out)
// expect finding race between ranks
//
// symm: test one_block_waits_right
// x symmetric f32[256]
// counts u32[1]
// out f32[256]
// reduce<true><<<4, 64>>>(handle(x), counts, out)
// expect out == (rank + size - 1) % size + i
template <bool right> __global__ void reduce(symm::Handle h, unsigned* counts, float* out) {
  const int next = (h.rank + 1) % h.world_size, last = (h.rank + h.world_size - 1) % h.world_size;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; k < 256; k += blockDim.x) h.buffer<float>(next)[k] = h.rank + k;
    __syncthreads();
    if (threadIdx.x == 0) symm::put_signal(h, next, 0), symm::wait_signal(h, last, 0);
    __syncthreads();
    if (threadIdx.x == 0) symm::store_release(counts, 1u);
  } else if (right) {
    if (threadIdx.x == 0) while (symm::load_acquire(counts) == 0) {}
    __syncthreads();
  }
  out[i] = h.buffer<float>(h.rank)[i];
}

// https://github.com/turboderp-org/exllamav3/pull/363: the sum of a warp is complete in lane 0 only, but
// every lane stores what it has into one place.
//
// symm: test all_lanes_store_wrong
// ranks 1, 2
// out f32[1]
// norm<1><<<1, 128>>>(out)
// expect finding race in a block
//
// symm: test all_lanes_store_right
// ranks 1, 2
// out f32[1]
// norm<0><<<1, 128>>>(out)
// expect out == 128 + 256

// https://github.com/pytorch/pytorch/pull/27634: two reductions of a block, one after the other, use the
// same shared memory, and nothing stands between the reads of the first and the writes of the second.
//
// symm: test reductions_share_memory_wrong
// ranks 1, 2
// out f32[1]
// norm<2><<<1, 128>>>(out)
// expect finding race in a block
//
// symm: test reductions_share_memory_right
// ranks 1, 2
// out f32[1]
// norm<0><<<1, 128>>>(out)
// expect out == 128 + 256
template <int wrong> __device__ float block_sum(float v) {
  __shared__ float sums[4];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (wrong == 1 || threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  const float sum = sums[0] + sums[1] + sums[2] + sums[3];
  if (wrong != 2) __syncthreads();
  return sum;
}
template <int wrong> __global__ void norm(float* out) {
  const float sum = block_sum<wrong>(1) + block_sum<wrong>(2);
  if (threadIdx.x == 0) *out = sum;
}
