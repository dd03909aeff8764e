// one_shot_all_reduce_pull: the shape of PyTorch's one-shot kernel. Blocks of the same index meet on their
// own channel, every rank reads everybody's buffer and reduces in rank order, and they meet again, so that
// the inputs may then be overwritten. For messages too large for packets, and the reference that the packet
// kernel is tested against.
#include "reduce.cuh"

struct PullArgs {
  symm::Context context;                // channels: at least the grid's blocks
  symm::Signals signals;                // a block of its own, not the one of Handle.barrier
  const void* in[symm::kMaxRanks];      // by rank
  void* out;
  symm::u64 n;                          // elements
  symm::u64 op;                         // symm::ReduceOp
};

// pull reduces elements first*N to groups*N, N at a time; N > 1 needs every address to allow it.
template <class T, int N>
__device__ __forceinline__ void pull(const PullArgs& a, symm::u64 first, symm::u64 groups) {
  using namespace symm;
  typedef Elements<T, N> E;
  const int world = a.context.world_size;
  const u64 grid = gridDim.x * (u64)blockDim.x;
  for (u64 i = first + blockIdx.x * (u64)blockDim.x + threadIdx.x; i < groups; i += grid) {
    E sum;
#pragma unroll 1
    for (int from = 0; from < world; from += kTogether) {
      E all[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; j++)
        if (from + j < world) all[j] = ((const E*)a.in[from + j])[i];
#pragma unroll
      for (int j = 0; j < kTogether; j++) {
        if (from + j >= world) break;
        if (from + j == 0) sum = all[j];
        else combine(sum, all[j], (u32)a.op);
      }
    }
    finish(sum, world, (u32)a.op);
    ((E*)a.out)[i] = sum;
  }
}

template <class T>
__device__ __forceinline__ void pull_between_barriers(const PullArgs& a) {
  if (!symm::barrier(a.signals, a.context, blockIdx.x)) return;
  constexpr int N = 16 / sizeof(T);
  symm::u64 addresses = (symm::u64)a.out;
  for (int p = 0; p < a.context.world_size; p++) addresses |= (symm::u64)a.in[p];
  const symm::u64 whole = (addresses & 15) == 0 ? a.n / N : 0;
  pull<T, N>(a, 0, whole);
  pull<T, 1>(a, whole * N, a.n);
  symm::barrier(a.signals, a.context, blockIdx.x);
}

#define PULL(T, dtype)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(512) one_shot_all_reduce_pull_##dtype(const __grid_constant__ PullArgs a) {       \
    symm::begin();                                                                                                               \
    pull_between_barriers<T>(a);                                                                                                 \
  }                                                                                                                              \
  SYMM_KERNEL(one_shot_all_reduce_pull_##dtype)
SYMM_FOR_DTYPES(PULL)
