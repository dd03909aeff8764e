// fill: set every element of a tensor to one bit pattern.
#include "symm.cuh"

struct FillArgs {
  void* out;
  symm::u64 n;      // elements
  symm::u64 bits;   // the element, in the low bytes
  symm::u64 high;   // the high 8 bytes of an element of 16
  symm::u64 size;   // bytes of an element: 1, 2, 4, 8 or 16
};
SYMM_LAYOUT(FillArgs, out, n, bits, high, size)

template <class T>
__device__ void fill_elements(T* out, symm::u64 n, T value) {
  SYMM_EACH(i, n) out[i] = value;
}

extern "C" __global__ void fill(const __grid_constant__ FillArgs a) {
  switch (a.size) {
    case 1: return fill_elements((symm::u8*)a.out, a.n, (symm::u8)a.bits);
    case 2: return fill_elements((symm::u16*)a.out, a.n, (symm::u16)a.bits);
    case 4: return fill_elements((symm::u32*)a.out, a.n, (symm::u32)a.bits);
    case 8: return fill_elements((symm::u64*)a.out, a.n, a.bits);
    case 16: return fill_elements((symm::u128*)a.out, a.n, symm::u128{a.bits, a.high});
  }
}
SYMM_KERNEL(fill)
