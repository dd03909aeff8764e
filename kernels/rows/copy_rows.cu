// copy_rows: copy rows of equal width. They may lie further apart than they are wide, on either
// side.
#include "symm.cuh"

struct CopyRowsArgs {
  char* dst;
  const char* src;
  symm::u64 rows, width;             // bytes
  symm::u64 dst_pitch, src_pitch;    // bytes from row to row
};
SYMM_LAYOUT(CopyRowsArgs, dst, src, rows, width, dst_pitch, src_pitch)

// copy_rows_by copies by words of type W; every address, pitch and width is a multiple of the size
// of W.
template <class W>
__device__ __forceinline__ void copy_rows_by(const CopyRowsArgs& a) {
  const symm::u64 words = a.width / sizeof(W);
  SYMM_EACH(i, a.rows * words) {
    const symm::u64 row = i / words, at = i % words * sizeof(W);
    *(W*)(a.dst + row * a.dst_pitch + at) = *(const W*)(a.src + row * a.src_pitch + at);
  }
}

extern "C" __global__ void copy_rows(const __grid_constant__ CopyRowsArgs a) {
  const symm::u64 all = (symm::u64)a.dst | (symm::u64)a.src | a.width | a.dst_pitch | a.src_pitch;
  if (all % 16 == 0) copy_rows_by<symm::u128>(a);
  else if (all % 4 == 0) copy_rows_by<symm::u32>(a);
  else if (all % 2 == 0) copy_rows_by<symm::u16>(a);
  else copy_rows_by<symm::u8>(a);
}
SYMM_KERNEL(copy_rows)
