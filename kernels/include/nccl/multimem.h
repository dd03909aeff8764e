// nccl/multimem.h: pointers that stand for the same place in every LSA rank's memory at once, and
// the operations on them.
//
// A communicator made with Multimem has such pointers if the device has multicast. On a GPU they
// are addresses for multimem instructions, on sm_90 and later. The cpu device emulates them by
// addresses that only symm::multimem_sum and symm::multimem_store, and the functions of
// nccl/reduce_copy.h, can use: an ordinary load or store of such an address ends the kernel.
#pragma once
#include "nccl/pointer.h"

struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace symm {

// NcclSum<T>::type is the type in which elements are added up.
template <class T> struct NcclSum { typedef T type; };
template <> struct NcclSum<__half> { typedef float type; };
template <> struct NcclSum<__nv_bfloat16> { typedef float type; };
template <> struct NcclSum<__nv_fp8_e4m3> { typedef float type; };
template <> struct NcclSum<__nv_fp8_e5m2> { typedef float type; };

// NcclAdds<T>::value reports whether multicast can add elements of type T.
template <class T> struct NcclAdds { static constexpr bool value = false; };
#define SYMM_ADDS(T, asm_type, constraint, Word)                                                                       \
  template <> struct NcclAdds<T> {                                                                                     \
    static constexpr bool value = true;                                                                                \
    static __device__ __forceinline__ void load(const void* p, void* r) { SYMM_MULTIMEM_SUM(asm_type, constraint, Word) } \
  };
#if defined(SYMM_CPU) || __CUDA_ARCH__ < 900
#define SYMM_MULTIMEM_SUM(asm_type, constraint, Word)
#define SYMM_MULTIMEM_STORE(asm_type, constraint, Word)
#define SYMM_MULTIMEM_CHANGE(op, word, bits)
#else
#define SYMM_MULTIMEM_CHANGE(op, word, bits) asm volatile("multimem.red.relaxed.sys.global." op ".b32 [%0], %1;" ::"l"(word), "r"(bits) : "memory");
#define SYMM_MULTIMEM_SUM(asm_type, constraint, Word) \
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add." asm_type " %0, [%1];" : "=" constraint(*(Word*)r) : "l"(p) : "memory");
#define SYMM_MULTIMEM_STORE(asm_type, constraint, Word) \
  asm volatile("multimem.st.relaxed.sys.global." asm_type " [%0], %1;" ::"l"(p), constraint(*(const Word*)v) : "memory");
#endif
SYMM_ADDS(float, "f32", "f", float)
SYMM_ADDS(double, "f64", "d", double)
SYMM_ADDS(int, "s32", "r", int)
SYMM_ADDS(unsigned int, "u32", "r", unsigned int)
SYMM_ADDS(long, "u64", "l", unsigned long long)
SYMM_ADDS(unsigned long, "u64", "l", unsigned long long)
SYMM_ADDS(long long, "u64", "l", unsigned long long)
SYMM_ADDS(unsigned long long, "u64", "l", unsigned long long)
#undef SYMM_ADDS
// 16-bit floats are added two at a time.
#define SYMM_ADDS(T, asm_type)                                                                                         \
  template <> struct NcclAdds<T> {                                                                                     \
    static constexpr bool value = true;                                                                                \
    static __device__ __forceinline__ void load(const void* one, void* to) {                                           \
      const void* const p = (const void*)((u64)one & ~3ull);                                                           \
      u32 pair = 0, *const r = &pair;                                                                                  \
      SYMM_MULTIMEM_SUM(asm_type, "r", u32)                                                                            \
      *(u16*)to = (u16)((u64)one & 2 ? pair >> 16 : pair);                                                           \
    }                                                                                                                  \
  };
SYMM_ADDS(__half, "acc::f32.f16x2")
SYMM_ADDS(__nv_bfloat16, "acc::f32.bf16x2")
#undef SYMM_ADDS

template <int size> __device__ __forceinline__ void multimem_store_word(void* p, const void* v);
// A store has 4 bytes at least. An operation on single bits leaves the other half of the word
// unchanged.
template <> __device__ __forceinline__ void multimem_store_word<2>(void* p, const void* v) {
  const u32 shift = (u32)(u64)p % 4 * 8, keep = ~(0xffffu << shift), bits = (u32) * (const u16*)v << shift;
  void* const word = (void*)((u64)p & ~3ull);
  SYMM_MULTIMEM_CHANGE("and", word, keep)
  fence();
  SYMM_MULTIMEM_CHANGE("or", word, bits)
}
template <> __device__ __forceinline__ void multimem_store_word<4>(void* p, const void* v) { SYMM_MULTIMEM_STORE("u32", "r", unsigned int) }
template <> __device__ __forceinline__ void multimem_store_word<8>(void* p, const void* v) { SYMM_MULTIMEM_STORE("u64", "l", unsigned long long) }
#undef SYMM_MULTIMEM_SUM
#undef SYMM_MULTIMEM_STORE
#undef SYMM_MULTIMEM_CHANGE

#ifdef SYMM_CPU
// multicast_window returns the window that an address belongs to: window and addresses lie in an
// aligned block of 2^k bytes, which begins with the window; k is stored above bit 56 of the
// address.
inline ncclWindow_t multicast_window(const void* p, u64 bytes, u64* offset) {
  const u64 k = (u64)p >> 56, at = (u64)p & (1ull << 56) - 1, head = at & ~((1ull << k) - 1);
  if (k == 0) ::emu::run_time().fail("this is no multimem pointer: get one from ncclGetLsaMultimemPointer or a similar function", "", 0);
  const ncclWindow_t w = *(const ncclWindow_t*)head;
  *offset = at - head - 4096;
  if (*offset > w->bytes || bytes > w->bytes - *offset) ::emu::run_time().fail("the multimem pointer is beyond its window", "", 0);
  return w;
}
#endif

// multimem_sum loads the sum of the LSA ranks' elements at a multimem pointer. 16-bit floats are
// added as float.
//
// Order: none: a barrier before it makes the elements of all ranks visible.
//
// Waits: for nothing.
//
// On the cpu device: the elements of all ranks are loaded and added, in their order.
//
// Example:
//
//   const float* const p = (const float*)ncclGetLsaMultimemPointer(window, 0, comm);
//   if (p) x[threadIdx.x] = symm::multimem_sum(p + threadIdx.x);
template <class T>
__device__ __forceinline__ T multimem_sum(const T* p) {
  static_assert(NcclAdds<T>::value, "multimem adds integers of 4 and 8 bytes, float, double, __half and __nv_bfloat16: load others with ncclLsaReduceSum");
#ifdef SYMM_CPU
  u64 offset;
  const ncclWindow_t w = multicast_window(p, sizeof(T), &offset);
  typename NcclSum<T>::type sum = (typename NcclSum<T>::type)*(const T*)(w->lsa[0] + offset);
  for (int i = 1; i < w->lsaSize; i++) sum += (typename NcclSum<T>::type)*(const T*)(w->lsa[i] + offset);
  return T(sum);
#else
  T r;
  NcclAdds<T>::load(p, &r);
  return r;
#endif
}

// multimem_store stores a value at a multimem pointer, in the memory of all LSA ranks.
//
// Order: none: a barrier after it makes the value visible.
//
// Waits: for nothing.
//
// On the cpu device: the value is stored in the memory of one rank after the other.
//
// Example:
//
//   float* const p = (float*)ncclGetLsaMultimemPointer(window, 0, comm);
//   if (p) symm::multimem_store(p + threadIdx.x, x[threadIdx.x]);
template <class T>
__device__ __forceinline__ void multimem_store(T* p, T value) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "multimem stores 2, 4 or 8 bytes: use a wider type");
#ifdef SYMM_CPU
  u64 offset;
  const ncclWindow_t w = multicast_window(p, sizeof(T), &offset);
  for (int i = 0; i < w->lsaSize; i++) *(T*)(w->lsa[i] + offset) = value;
#else
  multimem_store_word<sizeof(T)>(p, &value);
#endif
}

}  // namespace symm

// ncclGetMultimemPointer returns nullptr, and the call is refused, for the handle of a communicator
// without Multimem.
NCCL_DEVICE_INLINE void* ncclGetMultimemPointer(ncclWindow_t w, size_t offset, ncclMultimemHandle mm) {
  if (!mm.mcBasePtr || !w->multimem) {
    symm::nccl_refuse(w->watch, w->rank, symm::kNcclMultimem, 0, w->rank, 0, 0);
    return nullptr;
  }
  return w->multimem + offset;
}
NCCL_DEVICE_INLINE void* ncclGetLsaMultimemPointer(ncclWindow_t w, size_t offset, ncclDevComm const& comm) { return ncclGetMultimemPointer(w, offset, comm.lsaMultimem); }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferMultimemPointer(ncclDevComm const& c, ncclDevResourceHandle h, ncclMultimemHandle mm) {
  return ncclGetMultimemPointer(c.resourceWindow, ncclGetResourceBufferOffset(h), mm);
}
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaMultimemPointer(ncclDevComm const& c, ncclDevResourceHandle h) {
  return ncclGetResourceBufferMultimemPointer(c, h, c.lsaMultimem);
}
template <typename T> NCCL_DEVICE_INLINE T* ncclSymPtr<T>::multimemPtr(ncclMultimemHandle mm) const { return (T*)ncclGetMultimemPointer(window, offset, mm); }
template <typename T> NCCL_DEVICE_INLINE T* ncclSymPtr<T>::lsaMultimemPtr(ncclDevComm const& c) const { return (T*)ncclGetLsaMultimemPointer(window, offset, c); }
