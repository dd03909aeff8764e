// nvshmem/amo.h: atomic operations on symmetric memory.
#pragma once
#include "nvshmem/rma.h"

namespace symm {

template <ShmemAtomic op, class U> __device__ __forceinline__ U shmem_atomic_near(U* p, U value, U compare) {
  switch (op) {
    case kShmemFetch: return load_relaxed(p);
    case kShmemSet: return atomicExch_system(p, value);
    case kShmemAdd: return atomicAdd_system(p, value);
    case kShmemAnd: return atomicAnd_system(p, value);
    case kShmemOr: return atomicOr_system(p, value);
    case kShmemXor: return atomicXor_system(p, value);
    default: return atomicCAS_system(p, compare, value);
  }
}

// shmem_atomic does an atomic operation on a word of pe and, if it fetches, returns the previous
// value.
template <ShmemAtomic op, bool fetches, class T> __device__ __forceinline__ T shmem_atomic(u32 line, T* dest, T value, T compare, int pe) {
  typedef typename ShmemBits<sizeof(T)>::type U;
  const ShmemSite s(kShmemAtomic, line);
  const ShmemPlace at = shmem_place(s, dest, sizeof(T), sizeof(T), pe);
  if (at.near) return shmem_value<T>(shmem_atomic_near<op, U>((U*)at.near, shmem_bits(value), shmem_bits(compare)));
  NetOp post = {};
  post.kind = kNetAtomic;
  post.window = at.window;
  post.offset = at.offset;
  post.bytes = sizeof(T);
  post.signal = op;
  post.value = shmem_bits(value);
  post.data = shmem_bits(compare);
  if (fetches) return shmem_value<T>(shmem_fetch(s, pe, post));
  shmem_post(s, pe, post, false);
  return T();
}

}  // namespace symm

// The types of atomic operations: integers for arithmetic, types whose bits can be combined, and
// all types that can be fetched, set and swapped.
#define SYMM_SHMEM_INTEGERS(M)                                                                                                      \
  M(int, int) M(uint, unsigned int) M(long, long) M(ulong, unsigned long) M(longlong, long long) M(ulonglong, unsigned long long)   \
  M(int32, int32_t) M(uint32, uint32_t) M(int64, int64_t) M(uint64, uint64_t) M(size, size_t) M(ptrdiff, long)
#define SYMM_SHMEM_BITWISE(M)                                                                                                       \
  M(uint, unsigned int) M(ulong, unsigned long) M(ulonglong, unsigned long long) M(int32, int32_t) M(uint32, uint32_t)              \
  M(int64, int64_t) M(uint64, uint64_t)

// nvshmem_TYPE_atomic_fetch returns a word of PE pe, nvshmem_TYPE_atomic_set stores it, and
// nvshmem_TYPE_atomic_swap stores it and returns the previous value.
//
// Order: none. nvshmem_fence orders it after earlier puts to pe.
//
// Waits: on this host for nothing; between hosts, functions that return a value wait for the
// engines of both ranks, the others for a place in the ring.
//
// On the cpu device: sequentially consistent; the sanitizer treats it as relaxed.
//
// Example:
//
//   x[0] = nvshmem_float_atomic_swap(data, 1.f, peer);
#define SYMM_SHMEM_EXTENDED(NAME, TYPE)                                                                     \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_fetch(const TYPE* source, int pe, SYMM_SHMEM_LINE) {              \
    return symm::shmem_atomic<symm::kShmemFetch, true, TYPE>(line, (TYPE*)source, (TYPE)0, (TYPE)0, pe);      \
  }                                                                                                         \
  SYMM_SHMEM void nvshmem_##NAME##_atomic_set(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {            \
    symm::shmem_atomic<symm::kShmemSet, false, TYPE>(line, dest, value, (TYPE)0, pe);                        \
  }                                                                                                         \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_swap(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {           \
    return symm::shmem_atomic<symm::kShmemSet, true, TYPE>(line, dest, value, (TYPE)0, pe);                  \
  }
SYMM_SHMEM_INTEGERS(SYMM_SHMEM_EXTENDED)
SYMM_SHMEM_EXTENDED(float, float)
SYMM_SHMEM_EXTENDED(double, double)
#undef SYMM_SHMEM_EXTENDED

// nvshmem_TYPE_atomic_add and nvshmem_TYPE_atomic_inc add to a word of PE pe; the forms with
// fetch return the previous value. nvshmem_TYPE_atomic_compare_swap stores value if the word is
// cond, and returns the previous value.
//
// Order: none. nvshmem_fence orders it after earlier puts to pe.
//
// Waits: as nvshmem_TYPE_atomic_fetch and nvshmem_TYPE_atomic_set do.
//
// Example:
//
//   int* const next = (int*)data;
//   for (int i; (i = nvshmem_int_atomic_fetch_add(next, 1, 0)) < n;) x[i] = (float)i;
#define SYMM_SHMEM_STANDARD(NAME, TYPE)                                                                                        \
  SYMM_SHMEM void nvshmem_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {                               \
    symm::shmem_atomic<symm::kShmemAdd, false, TYPE>(line, dest, value, (TYPE)0, pe);                                           \
  }                                                                                                                            \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {                         \
    return symm::shmem_atomic<symm::kShmemAdd, true, TYPE>(line, dest, value, (TYPE)0, pe);                                     \
  }                                                                                                                            \
  SYMM_SHMEM void nvshmem_##NAME##_atomic_inc(TYPE* dest, int pe, SYMM_SHMEM_LINE) {                                           \
    symm::shmem_atomic<symm::kShmemAdd, false, TYPE>(line, dest, 1, (TYPE)0, pe);                                               \
  }                                                                                                                            \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe, SYMM_SHMEM_LINE) {                                     \
    return symm::shmem_atomic<symm::kShmemAdd, true, TYPE>(line, dest, 1, (TYPE)0, pe);                                         \
  }                                                                                                                            \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe, SYMM_SHMEM_LINE) {           \
    return symm::shmem_atomic<symm::kShmemCompareSwap, true, TYPE>(line, dest, value, cond, pe);                               \
  }
SYMM_SHMEM_INTEGERS(SYMM_SHMEM_STANDARD)
#undef SYMM_SHMEM_STANDARD

// nvshmem_TYPE_atomic_and, nvshmem_TYPE_atomic_or and nvshmem_TYPE_atomic_xor combine the bits of a
// word of PE pe with the bits of value; the forms with fetch return the previous value.
//
// Order: none. nvshmem_fence orders it after earlier puts to pe.
//
// Waits: as nvshmem_TYPE_atomic_fetch and nvshmem_TYPE_atomic_set do.
//
// Example:
//
//   nvshmem_uint_atomic_or((unsigned int*)data, 1u << nvshmem_my_pe(), peer);
#define SYMM_SHMEM_BITS(NAME, TYPE, LOWER, UPPER)                                                                    \
  SYMM_SHMEM void nvshmem_##NAME##_atomic_##LOWER(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {                 \
    symm::shmem_atomic<symm::kShmem##UPPER, false, TYPE>(line, dest, value, (TYPE)0, pe);                             \
  }                                                                                                                  \
  SYMM_SHMEM TYPE nvshmem_##NAME##_atomic_fetch_##LOWER(TYPE* dest, TYPE value, int pe, SYMM_SHMEM_LINE) {           \
    return symm::shmem_atomic<symm::kShmem##UPPER, true, TYPE>(line, dest, value, (TYPE)0, pe);                       \
  }
#define SYMM_SHMEM_ALL_BITS(NAME, TYPE) SYMM_SHMEM_BITS(NAME, TYPE, and, And) SYMM_SHMEM_BITS(NAME, TYPE, or, Or) SYMM_SHMEM_BITS(NAME, TYPE, xor, Xor)
SYMM_SHMEM_BITWISE(SYMM_SHMEM_ALL_BITS)
#undef SYMM_SHMEM_ALL_BITS
#undef SYMM_SHMEM_BITS
