// put_with_signal: copy bytes to a peer, then set a 64-bit word there. One block. n is 0 if a copy
// engine has moved the data.
#include "symm.cuh"

struct PutWithSignalArgs {
  void* dst;        // the peer's memory
  const void* src;
  symm::u64 n;      // bytes
  symm::u64* word;  // the peer's signal
  symm::u64 value;
};
SYMM_LAYOUT(PutWithSignalArgs, dst, src, n, word, value)

extern "C" __global__ void put_with_signal(const __grid_constant__ PutWithSignalArgs a) {
  symm::begin();
  symm::copy(a.dst, a.src, a.n);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    symm::store_release(a.word, a.value);
  }
}
SYMM_KERNEL(put_with_signal)
