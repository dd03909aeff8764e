// emu_types.h: vector types with CUDA's layout, and the index variables.
#pragma once
#include "emu_abi.h"

using size_t = emu::Size;

#define EMU_VECTOR(T, name, align2, align4) \
  struct name##1 { T x; };                                                                                      \
  struct alignas(align2) name##2 { T x, y; };                                                                   \
  struct name##3 { T x, y, z; };                                                                                \
  struct alignas(align4) name##4 { T x, y, z, w; };                                                             \
  inline constexpr name##1 make_##name##1(T x) { return {x}; }                                                  \
  inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }                                          \
  inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                  \
  inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

// Vector types, with CUDA's sizes and alignments.
//
// Example:
//
//   const float4 v = ((const float4*)x)[0];
//   ((float4*)x)[0] = make_float4(v.w, v.z, v.y, v.x);
EMU_VECTOR(signed char, char, 2, 4)
EMU_VECTOR(unsigned char, uchar, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(unsigned short, ushort, 4, 8)
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR(unsigned, uint, 8, 16)
EMU_VECTOR(long, long, 16, 16)
EMU_VECTOR(unsigned long, ulong, 16, 16)
EMU_VECTOR(long long, longlong, 16, 16)
EMU_VECTOR(unsigned long long, ulonglong, 16, 16)
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(double, double, 16, 16)
#undef EMU_VECTOR

// dim3 is the size of a block or a grid.
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

static_assert(sizeof(uint3) == sizeof(emu::Index3) && sizeof(dim3) == sizeof(emu::Index3));

namespace emu {
#ifdef SYMM_SANITIZE // as functions, whose accesses are not watched
#define EMU_INDEX(name, T, from) \
  __attribute__((noinline, no_sanitize("thread"))) static T name() { return (const T&)worker()->from; }
EMU_INDEX(thread_index, uint3, thread->index)
#else
#define EMU_INDEX(name, T, from)                                                                            \
  __attribute__((always_inline)) inline T name() {                                                          \
    constexpr int at = __builtin_offsetof(Worker, from);                                                    \
    return __builtin_bit_cast(T, Index3{constant<at>(), constant<at + 4>(), constant<at + 8>()});           \
  }
// The compiler does not check what it knows about the address.
__attribute__((always_inline, no_sanitize("alignment"))) inline uint3 thread_index() { return (const uint3&)worker()->thread->index; }
#endif
EMU_INDEX(block_index, uint3, block)
EMU_INDEX(block_size, dim3, block_dim)
EMU_INDEX(grid_size, dim3, grid_dim)
#undef EMU_INDEX
}  // namespace emu

// The place of a thread: threadIdx in its block, whose size is blockDim, and blockIdx in the grid,
// whose size is gridDim.
//
// Example:
//
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) x[i] = 1;
#define threadIdx (::emu::thread_index())
#define blockIdx (::emu::block_index())
#define blockDim (::emu::block_size())
#define gridDim (::emu::grid_size())
#define warpSize 32

// Integers of stdint.h.
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
using intptr_t = long;
using ptrdiff_t = __PTRDIFF_TYPE__;
