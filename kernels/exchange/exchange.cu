// exchange: the blocks with the same index on all ranks meet on a channel of their own, every rank
// copies pieces of memory, its own or a peer's, and the blocks meet again. All-gather, all-to-all
// and broadcast are exchanges of different pieces. All pieces have the same size.
#include "symm.cuh"

struct ExchangeArgs {
  symm::Context context;              // channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  const void* src[symm::kMaxRanks];   // the pieces, beginning with a neighbour's to spread the traffic
  void* dst[symm::kMaxRanks];
  symm::u64 pieces;
  symm::u64 n;                        // bytes of a piece
  symm::u64 same;                     // not 0: all pieces come from src[0]
};
SYMM_LAYOUT(ExchangeArgs, context, signals, src, dst, pieces, n, same)

// move copies bytes offset to offset + count*sizeof(W) of every piece.
template <class W>
__device__ __forceinline__ void move(const ExchangeArgs& a, symm::u64 offset, symm::u64 count) {
  using namespace symm;
  constexpr int kTogether = 4;
  const u64 grid = gridDim.x * (u64)blockDim.x;
  SYMM_SHARE(i, count, blockIdx.x * (u64)blockDim.x + threadIdx.x, grid) {
    const u64 at = offset + i * sizeof(W);
    if (a.same) {
      const W w = *(const W*)((const char*)a.src[0] + at);
      for (int k = 0; k < (int)a.pieces; k++) *(W*)((char*)a.dst[k] + at) = w;
      continue;
    }
#pragma unroll 1
    for (int first = 0; first < (int)a.pieces; first += kTogether) {
      W w[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (first + j < (int)a.pieces) w[j] = *(const W*)((const char*)a.src[first + j] + at);
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (first + j < (int)a.pieces) *(W*)((char*)a.dst[first + j] + at) = w[j];
    }
  }
}

// move_as copies aligned words of type W, and single bytes before and after them.
template <class W>
__device__ __forceinline__ void move_as(const ExchangeArgs& a, symm::u64 head) {
  const symm::u64 words = (a.n - head) / sizeof(W);
  move<symm::u8>(a, 0, head);
  move<W>(a, head, words);
  move<symm::u8>(a, head + words * sizeof(W), a.n - head - words * sizeof(W));
}

extern "C" __global__ void __launch_bounds__(512) exchange(const __grid_constant__ ExchangeArgs a) {
  using namespace symm;
  begin();
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  const u64 start = (u64)a.src[0];
  u64 differ = 0;
  for (int k = 0; k < (int)a.pieces; k++) differ |= ((u64)a.src[k] ^ start) | ((u64)a.dst[k] ^ start);
  const u64 size = differ & 1 ? 1 : differ & 2 ? 2 : differ & 4 ? 4 : differ & 8 ? 8 : 16;  // widest words
  const u64 head = (0 - start) % size < a.n ? (0 - start) % size : a.n;
  if (a.pieces) {
    if (size == 16) move_as<u128>(a, head);
    else if (size == 8) move_as<u64>(a, head);
    else if (size == 4) move_as<u32>(a, head);
    else if (size == 2) move_as<u16>(a, head);
    else move<u8>(a, 0, a.n);
  }
  barrier(a.signals, a.context, blockIdx.x);
}
SYMM_KERNEL(exchange)
