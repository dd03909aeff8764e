// bounds.cuh: pointers that know their extent, for the sanitizer on GPUs.
//
// When the bounds of a snippet are checked, the compiler gets symm::Checked<float> x where the text
// has float* x, and Handle returns checked pointers to buffers and pads. They behave like pointers:
// x[i], *x, x->f, arithmetic and comparisons work, and they convert to plain pointers, which are no
// longer checked. An access outside of the extent is published for the host, with its line, and is
// redirected to spare memory, so that it changes no other data and the kernel goes on.
//
// Checked<T> is trivially copyable and laid out as abi.Checked; a kernel takes it by value.
#pragma once
#include "symm/context.cuh"
#include "symm/order.cuh"

namespace symm {

constexpr u32 kNoLine = ~0u;
enum OutsideState : u32 { kOutside = 1 };

// spare is the memory for accesses that are out of bounds.
template <class T> struct Spare { alignas(T) char bytes[sizeof(T)]; };
template <class T> __device__ Spare<T> spare;

// tell publishes an access, unless an access at the same line is already published and the host has
// not read it yet.
__device__ __noinline__ inline void tell(Watch* watch, u32 call, u64 first, u64 address, u32 bytes, bool reads, u32 line) {
  Outside* o = &watch->outside[line % kMaxOutside];
  if (load_relaxed(&o->line) != 0 || atomicCAS(&o->line, 0u, line) != 0) return;
  store_relaxed(&o->call, call);
  store_relaxed(&o->bytes, bytes);
  store_relaxed(&o->reads, (u32)reads);
  store_relaxed(&o->block[0], blockIdx.x);
  store_relaxed(&o->block[1], blockIdx.y);
  store_relaxed(&o->block[2], blockIdx.z);
  store_relaxed(&o->thread[0], threadIdx.x);
  store_relaxed(&o->thread[1], threadIdx.y);
  store_relaxed(&o->thread[2], threadIdx.z);
  store_relaxed(&o->address, address);
  store_relaxed(&o->first, first);
  store_release(&o->state, (u32)kOutside);
}

namespace checked {

template <bool B, class T = int> struct If {};
template <class T> struct If<true, T> { typedef T type; };
template <class T> struct Plain { typedef T type; static constexpr bool reads = false; };
template <class T> struct Plain<const T> { typedef T type; static constexpr bool reads = true; };
template <class T> struct Plain<volatile T> { typedef T type; static constexpr bool reads = false; };
template <class T> struct Plain<const volatile T> { typedef T type; static constexpr bool reads = true; };
template <class T> __device__ T* pointer();
// Becomes<T, U>::value reports whether a T* converts to a U* without a cast.
template <class U> __device__ char becomes(U*);
template <class U> __device__ long becomes(...);
template <class T, class U> struct Becomes { static constexpr bool value = sizeof(becomes<U>(pointer<T>())) == 1; };

// Index is an index and the line on which it is used.
struct Index {
  i64 i;
  u32 line;
  template <class I> __device__ __forceinline__ Index(I i, u32 line = __builtin_LINE()) : i((i64)i), line(line) {}
};

}  // namespace checked

template <class T> struct Checked;

namespace checked {

// Here is a pointer and the line on which it is used.
template <class T> struct Here {
  const Checked<T>& p;
  u32 line;
  __device__ __forceinline__ Here(const Checked<T>& p, u32 line = __builtin_LINE()) : p(p), line(line) {}
};

}  // namespace checked

template <class T> struct Checked {
  T* at;
  Extent of;

  Checked() = default;
  // A pointer made from a plain pointer has no known extent.
  __device__ __forceinline__ Checked(T* p) : at(p), of() {}
  template <class U, typename checked::If<!checked::Becomes<U, T>::value>::type = 0>
  __device__ __forceinline__ explicit Checked(U* p) : at((T*)p), of() {}
  __device__ __forceinline__ explicit Checked(u64 address) : at((T*)address), of() {}
  __device__ __forceinline__ Checked(T* p, const Extent& e) : at(p), of(e) {}
  template <class U, typename checked::If<checked::Becomes<U, T>::value>::type = 0>
  __device__ __forceinline__ Checked(const Checked<U>& p) : at(p.at), of(p.of) {}
  template <class U, typename checked::If<!checked::Becomes<U, T>::value>::type = 0>
  __device__ __forceinline__ explicit Checked(const Checked<U>& p) : at((T*)p.at), of(p.of) {}

  // Conversions to plain pointers: implicit where the language converts a T* implicitly, explicit
  // where it needs a cast. They are templates, so that the operators of plain pointers are no
  // candidates in overload resolution.
  template <class U, typename checked::If<checked::Becomes<T, U>::value>::type = 0>
  __device__ __forceinline__ operator U*() const { return at; }
  template <class U, typename checked::If<!checked::Becomes<T, U>::value, long>::type = 0>
  __device__ __forceinline__ explicit operator U*() const { return (U*)at; }
  __device__ __forceinline__ explicit operator bool() const { return at != nullptr; }
  __device__ __forceinline__ explicit operator u64() const { return (u64)at; }

  // element returns the element at an index, or spare memory if the index is out of bounds.
  __device__ __forceinline__ T& element(i64 i, u32 line) const {
    const u64 address = (u64)at + (u64)i * sizeof(T), offset = address - of.first;
    if (of.watch && (offset >= of.bytes || of.bytes - offset < sizeof(T))) {
      typedef typename checked::Plain<T>::type Value;
      tell(of.watch, of.call, of.first, address, (u32)sizeof(T), checked::Plain<T>::reads, line);
      return *(T*)spare<Value>.bytes;
    }
    return *(T*)address;
  }
  __device__ __forceinline__ T& operator[](checked::Index i) const { return element(i.i, i.line); }
  friend __device__ __forceinline__ T& operator*(checked::Here<T> h) { return h.p.element(0, h.line); }
  __device__ __forceinline__ T* operator->() const { return &element(0, kNoLine); }

  __device__ __forceinline__ Checked operator+(i64 n) const { return Checked(at + n, of); }
  __device__ __forceinline__ Checked operator-(i64 n) const { return Checked(at - n, of); }
  friend __device__ __forceinline__ Checked operator+(i64 n, const Checked& p) { return p + n; }
  __device__ __forceinline__ Checked& operator+=(i64 n) { at += n; return *this; }
  __device__ __forceinline__ Checked& operator-=(i64 n) { at -= n; return *this; }
  __device__ __forceinline__ Checked& operator++() { at++; return *this; }
  __device__ __forceinline__ Checked& operator--() { at--; return *this; }
  __device__ __forceinline__ Checked operator++(int) { return Checked(at++, of); }
  __device__ __forceinline__ Checked operator--(int) { return Checked(at--, of); }

// SYMM_WITH defines an operator on two pointers, one of which may be plain.
#define SYMM_WITH(result, op)                                                                                               \
  friend __device__ __forceinline__ result operator op(const Checked& a, const Checked& b) { return a.at op b.at; }         \
  template <class U> friend __device__ __forceinline__ result operator op(const Checked& a, U* b) { return a.at op b; }     \
  template <class U> friend __device__ __forceinline__ result operator op(U* a, const Checked& b) { return a op b.at; }
  SYMM_WITH(i64, -)
  SYMM_WITH(bool, ==)
  SYMM_WITH(bool, !=)
  SYMM_WITH(bool, <)
  SYMM_WITH(bool, <=)
  SYMM_WITH(bool, >)
  SYMM_WITH(bool, >=)
#undef SYMM_WITH
};
// recast replaces the casts of pointers in a snippet, by the name of the cast.
template <class T, class P> __device__ __forceinline__ Checked<T> recast(P&& p) { return (Checked<T>)p; }

static_assert(sizeof(Checked<char>) == 40, "mirrors abi.Checked");

}  // namespace symm
