// pull_reduce: the blocks with the same index on all ranks meet on a channel of their own. Every
// rank then reads the same elements of all ranks, reduces them in rank order and stores the result
// in one or more places. Finally the blocks meet again: the inputs may then be overwritten. In one
// shot a rank reduces the whole tensor into its own memory. In a reduce-scatter it reduces its
// slice into its own memory. In two shots it reduces its slice into the tensors of all ranks. These
// may be the inputs, since no other rank reads that slice. PyTorch's kernels work the same way.
#include "reduce/float8.cuh"

struct PullArgs {
  symm::Context context;                // channels: at least the grid's blocks
  symm::Signals signals;                // a block of its own, not the one of Handle.barrier
  const void* in[symm::kMaxRanks];      // by rank
  void* out[symm::kMaxRanks];           // the first outs entries are used
  symm::u64 outs;
  symm::u64 n;                          // elements
  symm::u64 width, stride;              // the first width of every stride elements of in are reduced; 0: all
  symm::u64 op;                         // symm::ReduceOp
  symm::u64 arrived;                    // not 0: `in` are copies in this rank's memory; no wait for others
};
SYMM_LAYOUT(PullArgs, context, signals, in, out, outs, n, width, stride, op, arrived)

// pull reduces `end` groups of N elements, counted from element offset. Every address is a multiple
// of the size of a group.
template <class T, class A, int N>
__device__ __forceinline__ void pull(const PullArgs& a, symm::u64 offset, symm::u64 end) {
  using namespace symm;
  typedef Elements<T, N> E;
  const int world = a.context.ranks();
  const u32 op = (u32)a.op & 255;
  SYMM_EACH(i, end) {
    const u64 to = offset + i * N, from = a.width ? to / a.width * a.stride + to % a.width : to;
    const E result = reduce_ranks<T, A, N>(a.in, from, world, op);
    for (int k = 0; k < (int)a.outs; k++) *(E*)((T*)a.out[k] + to) = result;
  }
}

template <class T, class A>
__device__ __forceinline__ void pull_between_barriers(const PullArgs& a) {
  using namespace symm;
  if (!a.arrived && !barrier(a.signals, a.context, blockIdx.x)) return;
  constexpr u64 N = 16 / sizeof(T);
  // If all addresses have the same distance to the next multiple of 16, vectors of 16 bytes begin
  // at that multiple.
  const u64 first = (u64)a.in[0];
  u64 differ = a.width % N | a.stride % N;
  for (int p = 0; p < a.context.ranks(); p++) differ |= ((u64)a.in[p] ^ first) & 15;
  for (int p = 0; p < (int)a.outs; p++) differ |= ((u64)a.out[p] ^ first) & 15;
  u64 head = (0 - first) % 16 / sizeof(T);
  if (differ || (a.width && head)) head = a.n;
  if (head > a.n) head = a.n;
  const u64 whole = (a.n - head) / N;
  pull<T, A, 1>(a, 0, head);
  pull<T, A, (int)N>(a, head, whole);
  pull<T, A, 1>(a, head + whole * N, a.n - head - whole * N);
  if (!a.arrived) barrier(a.signals, a.context, blockIdx.x);
}

#define PULL(T, dtype)                                                                                     \
  extern "C" __global__ void __launch_bounds__(512) pull_reduce_##dtype(const __grid_constant__ PullArgs a) { \
    symm::begin();                                                                                         \
    if (a.op & symm::kWide) pull_between_barriers<T, symm::Wide<T>>(a);                                    \
    else pull_between_barriers<T, symm::Step<T>>(a);                                                       \
  }                                                                                                        \
  SYMM_KERNEL(pull_reduce_##dtype)
SYMM_FOR_REDUCED(PULL)
