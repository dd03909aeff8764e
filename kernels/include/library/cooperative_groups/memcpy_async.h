// cooperative_groups/memcpy_async.h: copies by the threads of a group, on both devices.
//
// The copy is complete when memcpy_async has returned on all threads. wait and wait_prior
// synchronise the group; after that, every thread may read all copied bytes. This header also works
// with the toolkit's cooperative_groups.h.
#pragma once
#include "cooperative_groups.h"

#define SYMM_COPIES __device__ __forceinline__

namespace cuda {
// aligned_size_t is a number of bytes that is a multiple of an alignment.
template <decltype(sizeof(0)) alignment>
struct aligned_size_t {
  static constexpr decltype(sizeof(0)) align = alignment;
  decltype(sizeof(0)) value;
  __device__ explicit constexpr aligned_size_t(decltype(sizeof(0)) v) : value(v) {}
  __device__ constexpr operator decltype(sizeof(0))() const { return value; }
};
}  // namespace cuda

namespace cooperative_groups {

// Internal: copy_words copies n words.
template <class Group, class Word>
SYMM_COPIES void copy_words(const Group& g, void* to, const void* from, unsigned long long n) {
  for (unsigned long long i = g.thread_rank(); i < n; i += g.size()) ((Word*)to)[i] = ((const Word*)from)[i];
}
// memcpy_async copies bytes.
template <class Group, class T, class Shape>
SYMM_COPIES void memcpy_async(const Group& g, T* to, const T* from, const Shape& bytes) {
  const unsigned long long n = (unsigned long long)bytes, all = n | (unsigned long long)to | (unsigned long long)from;
  if (all % 8 == 0) copy_words<Group, unsigned long long>(g, to, from, n / 8);
  else if (all % 4 == 0) copy_words<Group, unsigned>(g, to, from, n / 4);
  else copy_words<Group, unsigned char>(g, to, from, n);
}
// memcpy_async with the layouts of both sides copies as many elements as the shorter one has.
template <class Group, class T, class To, class From>
SYMM_COPIES void memcpy_async(const Group& g, T* to, const To& most, const T* from, const From& n) {
  const unsigned long long a = (unsigned long long)most, b = (unsigned long long)n;
  memcpy_async(g, to, from, (a < b ? a : b) * sizeof(T));
}
template <class Group>
SYMM_COPIES void wait(const Group& g) { g.sync(); }
template <unsigned stages, class Group>
SYMM_COPIES void wait_prior(const Group& g) { g.sync(); }

}  // namespace cooperative_groups

#undef SYMM_COPIES
