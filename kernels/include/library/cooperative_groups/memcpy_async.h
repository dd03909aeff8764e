// cooperative_groups/memcpy_async.h: copies by the threads of a group, on both devices.
//
// The copy is complete when memcpy_async returns on all threads; wait and wait_prior let the group
// meet, behind which all of it may be read.
#pragma once
#include "cooperative_groups.h"

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

namespace details {
template <class Group, class Word>
SYMM_CG void copy(const Group& g, void* to, const void* from, unsigned long long n) {
  for (unsigned long long i = g.thread_rank(); i < n; i += g.size()) ((Word*)to)[i] = ((const Word*)from)[i];
}
}  // namespace details

// memcpy_async copies bytes.
template <class Group, class T, class Shape>
SYMM_CG void memcpy_async(const Group& g, T* to, const T* from, const Shape& bytes) {
  const unsigned long long n = (unsigned long long)bytes, all = n | (unsigned long long)to | (unsigned long long)from;
  if (all % 8 == 0) details::copy<Group, unsigned long long>(g, to, from, n / 8);
  else if (all % 4 == 0) details::copy<Group, unsigned>(g, to, from, n / 4);
  else details::copy<Group, unsigned char>(g, to, from, n);
}
// memcpy_async with the layouts of both sides copies as many elements as the shorter one has.
template <class Group, class T, class To, class From>
SYMM_CG void memcpy_async(const Group& g, T* to, const To& most, const T* from, const From& n) {
  const unsigned long long a = (unsigned long long)most, b = (unsigned long long)n;
  memcpy_async(g, to, from, (a < b ? a : b) * sizeof(T));
}
template <class Group>
SYMM_CG void wait(const Group& g) { g.sync(); }
template <unsigned stages, class Group>
SYMM_CG void wait_prior(const Group& g) { g.sync(); }

}  // namespace cooperative_groups
