// permute: the blocks with the same index on all ranks meet on a channel of their own, every rank
// copies batches of rows between its own memory and each peer's, and the blocks meet again. The rows
// may lie further apart than they are wide, on either side.
#include "symm.cuh"

struct PermuteArgs {
  symm::Context context;              // channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  const void* src[symm::kMaxRanks];   // one for each rank, beginning with a neighbour's to spread the traffic
  void* dst[symm::kMaxRanks];
  symm::u64 batches, batch;           // bytes from one batch of rows to the next, in src and in dst
  symm::u64 rows, width;              // of a batch; bytes
  symm::u64 src_pitch, dst_pitch;     // bytes from row to row
};
SYMM_LAYOUT(PermuteArgs, context, signals, src, dst, batches, batch, rows, width, src_pitch, dst_pitch)

// copy_blocks copies by words of type W; every address, pitch and width is a multiple of the size
// of W.
template <class W>
__device__ __forceinline__ void copy_blocks(const PermuteArgs& a) {
  using namespace symm;
  constexpr int kTogether = 4;
  const u64 words = a.width / sizeof(W), all = a.rows * words, grid = gridDim.x * (u64)blockDim.x;
  const int world = a.context.ranks();
  SYMM_SHARE(i, a.batches * all, blockIdx.x * (u64)blockDim.x + threadIdx.x, grid) {
    const u64 row = i % all / words, at = i / all * a.batch + i % words * sizeof(W);
    const u64 from = row * a.src_pitch + at, to = row * a.dst_pitch + at;
#pragma unroll 1
    for (int first = 0; first < world; first += kTogether) {
      W w[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (first + j < world) w[j] = *(const W*)((const char*)a.src[first + j] + from);
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (first + j < world) *(W*)((char*)a.dst[first + j] + to) = w[j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(512) permute(const __grid_constant__ PermuteArgs a) {
  using namespace symm;
  begin();
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  u64 all = a.width | a.src_pitch | a.dst_pitch | a.batch;
  for (int k = 0; k < a.context.ranks(); k++) all |= (u64)a.src[k] | (u64)a.dst[k];
  if (all % 16 == 0) copy_blocks<u128>(a);
  else if (all % 4 == 0) copy_blocks<u32>(a);
  else if (all % 2 == 0) copy_blocks<u16>(a);
  else copy_blocks<u8>(a);
  barrier(a.signals, a.context, blockIdx.x);
}
SYMM_KERNEL(permute)
