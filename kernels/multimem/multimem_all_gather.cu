// multimem_all_gather: between two barriers every rank stores its elements to their place in the
// outputs of all ranks by the multicast address, so that they cross the rank's own link only once.
#include "symm.cuh"
#include "symm/multimem.cuh"

struct MultimemGatherArgs {
  symm::Context context;  // channels: at least the grid's blocks
  symm::Signals signals;  // a block of its own, not the one of Handle.barrier
  symm::Multicast out;
  const char* in;
  symm::u64 offset;       // of this rank's place in out; a multiple of 4; so is in
  symm::u64 n;            // bytes; a multiple of 4
};
SYMM_LAYOUT(MultimemGatherArgs, context, signals, out, in, offset, n)

template <int W>
__device__ __forceinline__ void gather_words(const MultimemGatherArgs& a, symm::u64 first, symm::u64 count) {
  using namespace symm;
  SYMM_EACH(i, count) {
    const u64 at = first + i * 4 * W;
    Words<W> words;
#pragma unroll
    for (int k = 0; k < W; k++) words.w[k] = *(const u32*)(a.in + at + 4 * k);
    multimem_store<W>(a.out, a.offset + at, words, a.context.ranks());
  }
}

extern "C" __global__ void __launch_bounds__(512) multimem_all_gather(const __grid_constant__ MultimemGatherArgs a) {
  using namespace symm;
  begin();
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  u64 head = (0 - (u64)(a.out.copies[a.context.rank] + a.offset)) % 16;
  if (head > a.n) head = a.n;
  const u64 whole = (a.n - head) / 16;
  gather_words<1>(a, 0, head / 4);
  gather_words<4>(a, head, whole);
  gather_words<1>(a, head + whole * 16, (a.n - head - whole * 16) / 4);
  barrier(a.signals, a.context, blockIdx.x);
}
SYMM_KERNEL(multimem_all_gather)
