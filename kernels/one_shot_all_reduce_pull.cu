// one_shot_all_reduce_pull: the shape of PyTorch's one-shot kernel. Blocks of the same index meet on their own channel, every rank reads everybody's
// buffer and reduces in rank order, and they meet again, so that the inputs may then be overwritten. For messages too large for packets, and
// the reference that the packet kernel is tested against.
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
template <class T, int N, int Ranks>
__device__ __forceinline__ void pull(const PullArgs& a, symm::u64 first, symm::u64 groups) {
  using namespace symm;
  typedef Elements<T, N> E;
  const int world = a.context.world_size;
  const u64 grid = gridDim.x * (u64)blockDim.x;
  for (u64 i = first + blockIdx.x * (u64)blockDim.x + threadIdx.x; i < groups; i += grid) {
    E all[Ranks];
#pragma unroll
    for (int p = 0; p < Ranks; p++)  // from all ranks at once, so that the loads overlap
      if (p < world) all[p] = ((const E*)a.in[p])[i];
    ((E*)a.out)[i] = reduce(all, world, (u32)a.op);
  }
}

template <class T, int Ranks>
__device__ __forceinline__ void pull_all(const PullArgs& a) {
  constexpr int N = 16 / sizeof(T);
  symm::u64 addresses = (symm::u64)a.out;
  for (int p = 0; p < a.context.world_size; p++) addresses |= (symm::u64)a.in[p];
  const symm::u64 whole = (addresses & 15) == 0 ? a.n / N : 0;
  pull<T, N, Ranks>(a, 0, whole);
  pull<T, 1, Ranks>(a, whole * N, a.n);
}

template <class T>
__device__ __forceinline__ void pull_between_barriers(const PullArgs& a) {
  if (!symm::barrier(a.signals, a.context, blockIdx.x)) return;
  if (a.context.world_size <= 2) pull_all<T, 2>(a);
  else if (a.context.world_size <= 4) pull_all<T, 4>(a);
  else if (a.context.world_size <= 8) pull_all<T, 8>(a);
  else pull_all<T, 16>(a);
  symm::barrier(a.signals, a.context, blockIdx.x);
}

#define PULL(T, dtype)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(512) one_shot_all_reduce_pull_##dtype(const __grid_constant__ PullArgs a) {       \
    pull_between_barriers<T>(a);                                                                                                 \
  }                                                                                                                              \
  SYMM_KERNEL(one_shot_all_reduce_pull_##dtype)
SYMM_FOR_DTYPES(PULL)
