// multimem_reduce: between two barriers every rank loads the members' sums of a part of a tensor
// from its multicast address, and stores them either to that address, that is, at all ranks, or
// into its own memory. In an all-reduce in place the part is the rank's slice, stored at all ranks;
// in one shot it is the whole tensor, stored into the rank's own memory; in a reduce to a root only
// the root has a part. PyTorch's multimem kernels work the same way.
#include "symm.cuh"
#include "symm/multimem.cuh"

struct MultimemArgs {
  symm::Context context;  // channels: at least the grid's blocks
  symm::Signals signals;  // a block of its own, not the one of Handle.barrier
  symm::Multicast tensor;
  char* out;              // in this rank's memory only; 0: the copies of all ranks
  symm::u64 offset;       // of this rank's part in tensor; in out the part begins at 0; a multiple of 4
  symm::u64 n;            // bytes of the part; a multiple of 4
  symm::u64 type;         // symm::MulticastType
  symm::u64 average;      // not 0: divide the sums
};
SYMM_LAYOUT(MultimemArgs, context, signals, tensor, out, offset, n, type, average)

template <int W>
__device__ __forceinline__ void reduce_words(const MultimemArgs& a, symm::u64 first, symm::u64 count) {
  using namespace symm;
  SYMM_EACH(i, count) {
    const u64 at = first + i * 4 * W;
    Words<W> sum = multimem_sum<W>(a.tensor, a.offset + at, (u32)a.type, a.context.ranks());
    if (a.average) {
#pragma unroll
      for (int k = 0; k < W; k++) sum.w[k] = average(sum.w[k], (u32)a.type, a.context.ranks());
    }
    if (!a.out) multimem_store<W>(a.tensor, a.offset + at, sum, a.context.ranks());
    else {
#pragma unroll
      for (int k = 0; k < W; k++) *(u32*)(a.out + at + 4 * k) = sum.w[k];
    }
  }
}

extern "C" __global__ void __launch_bounds__(512) multimem_reduce(const __grid_constant__ MultimemArgs a) {
  using namespace symm;
  begin();
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  u64 head = (0 - (u64)(a.tensor.copies[a.context.rank] + a.offset)) % 16;
  if (head > a.n) head = a.n;
  const u64 whole = (a.n - head) / 16;
  reduce_words<1>(a, 0, head / 4);
  reduce_words<4>(a, head, whole);
  reduce_words<1>(a, head + whole * 16, (a.n - head - whole * 16) / 4);
  barrier(a.signals, a.context, blockIdx.x);
}
SYMM_KERNEL(multimem_reduce)
