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

template <class T, int N, int Ranks>
__device__ __forceinline__ void pull(const PullArgs& a, bool whole) {
  using namespace symm;
  typedef Elements<T, N> E;
  const int world = a.context.world_size;
  const bool out_whole = ((u64)a.out & (sizeof(E) - 1)) == 0;
  const u64 groups = (a.n + N - 1) / N, grid = gridDim.x * (u64)blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < groups; i += grid) {
    E all[Ranks];
#pragma unroll
    for (int k = 0; k < Ranks; k++)
      if (k < world) all[k] = load<T, N>((const T*)a.in[k], i, a.n, whole);
    store<T, N>((T*)a.out, i, a.n, out_whole, reduce(all, world, (u32)a.op));
  }
}

template <class T>
__device__ __forceinline__ void pull_between_barriers(const PullArgs& a) {
  if (!symm::barrier(a.signals, a.context, blockIdx.x)) return;
  constexpr int N = 16 / sizeof(T);
  bool whole = true;
  for (int p = 0; p < a.context.world_size; p++) whole = whole && ((symm::u64)a.in[p] & 15) == 0;
  if (a.context.world_size <= 4) pull<T, N, 4>(a, whole);
  else pull<T, N, 16>(a, whole);
  symm::barrier(a.signals, a.context, blockIdx.x);
}

#define PULL(T, dtype)                                                                                                           \
  extern "C" __global__ void __launch_bounds__(512) one_shot_all_reduce_pull_##dtype(const __grid_constant__ PullArgs a) {       \
    pull_between_barriers<T>(a);                                                                                                 \
  }                                                                                                                              \
  SYMM_KERNEL(one_shot_all_reduce_pull_##dtype)
SYMM_FOR_DTYPES(PULL)
