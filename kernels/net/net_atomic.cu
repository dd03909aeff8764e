// net_atomic: the network engine's atomic operation on a word of 4 or 8 bytes of this rank, for a
// rank on another host. One thread.
#include "nvshmem/table.h"

struct NetAtomicArgs {
  void* word;
  symm::u64 value, compare;
  symm::u64* result;  // the previous value, for the host
  symm::u32 operation, bytes;  // a symm::ShmemAtomic
};
SYMM_LAYOUT(NetAtomicArgs, word, value, compare, result, operation, bytes)

template <class U> __device__ U atomic(symm::u32 operation, U* p, U value, U compare) {
  switch (operation) {
    case symm::kShmemSet: return atomicExch_system(p, value);
    case symm::kShmemAdd: return atomicAdd_system(p, value);
    case symm::kShmemAnd: return atomicAnd_system(p, value);
    case symm::kShmemOr: return atomicOr_system(p, value);
    case symm::kShmemXor: return atomicXor_system(p, value);
    case symm::kShmemCompareSwap: return atomicCAS_system(p, compare, value);
  }
  return symm::load_relaxed(p);
}

extern "C" __global__ void net_atomic(const __grid_constant__ NetAtomicArgs a) {
  symm::begin();
  const symm::u64 old = a.bytes == 4 ? atomic<symm::u32>(a.operation, (symm::u32*)a.word, (symm::u32)a.value, (symm::u32)a.compare)
                                     : atomic<symm::u64>(a.operation, (symm::u64*)a.word, a.value, a.compare);
  symm::store_relaxed(a.result, old);
}
SYMM_KERNEL(net_atomic)
