// emu_hooks.h: the functions that a compiler calls with -fsanitize=thread, for watched kernels.
// They are compiled without that option and linked to each module.
//
// A function is called before the access; functions for atomic operations execute the operation
// themselves.
#pragma once

#include "emu_abi.h"
#include "emu_apart.h"

namespace {

using namespace emu;

inline const Sanitize* on() { return worker()->api->sanitize; }

// Only the thread itself accesses its stack, and only the emulator the worker.
inline bool local(const void* p) {
  return (Size)((const char*)p - (const char*)__builtin_frame_address(0)) < (1 << 17) || (Size)((const char*)p - (const char*)worker()) < sizeof(Worker);
}

const Apart kApart{__start_emu_apart, __stop_emu_apart};
#define EMU_PC call_of(kApart, __builtin_return_address(0), __builtin_frame_address(0))

enum { kRead = 0, kWrite = 1, kAtomic = 2 };
enum { kLoad, kStore, kSwap, kFailedSwap };

template <class T>
unsigned long long bits(T v) {
  return (unsigned long long)v;
}

}  // namespace

extern "C" {

// The emulator reads the bounds of the section, for barriers.
extern __attribute__((visibility("default"))) const Apart emu_module_apart;
const Apart emu_module_apart = kApart;

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define EMU_ACCESS(name, size, how) \
  void __tsan_##name(void* p) {     \
    if (local(p)) return;           \
    if (const Sanitize* s = on()) s->access(p, size, how, EMU_PC); \
  }
#define EMU_ACCESSES(size)                       \
  EMU_ACCESS(read##size, size, kRead)            \
  EMU_ACCESS(write##size, size, kWrite)          \
  EMU_ACCESS(unaligned_read##size, size, kRead)  \
  EMU_ACCESS(unaligned_write##size, size, kWrite) \
  EMU_ACCESS(volatile_read##size, size, kRead | kAtomic)   \
  EMU_ACCESS(volatile_write##size, size, kWrite | kAtomic) \
  EMU_ACCESS(unaligned_volatile_read##size, size, kRead | kAtomic)   \
  EMU_ACCESS(unaligned_volatile_write##size, size, kWrite | kAtomic)
EMU_ACCESSES(1)
EMU_ACCESSES(2)
EMU_ACCESSES(4)
EMU_ACCESSES(8)
EMU_ACCESSES(16)
EMU_ACCESS(read_write1, 1, kWrite)
EMU_ACCESS(read_write2, 2, kWrite)
EMU_ACCESS(read_write4, 4, kWrite)
EMU_ACCESS(read_write8, 8, kWrite)
EMU_ACCESS(read_write16, 16, kWrite)

void __tsan_read_range(void* p, Size n) {
  if (local(p)) return;
  if (const Sanitize* s = on()) s->range(p, n, kRead, EMU_PC);
}
void __tsan_write_range(void* p, Size n) {
  if (local(p)) return;
  if (const Sanitize* s = on()) s->range(p, n, kWrite, EMU_PC);
}

void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (const Sanitize* s = on()) s->fence(2);
}
void __tsan_atomic_signal_fence(int) {}

#define EMU_ATOMICALLY(kind, T, p, order, expression, stored)               \
  const Sanitize* s = local((const void*)p) ? nullptr : on();               \
  if (s) s->lock((const void*)p);                                           \
  const T old = expression;                                                 \
  if (s) s->atomic((const void*)p, sizeof(T), kind, order, bits(old), bits((T)(stored)), EMU_PC); \
  return old;

#define EMU_ATOMIC_TYPE(n, T)                                                                                      \
  T __tsan_atomic##n##_load(const volatile T* p, int o) {                                                          \
    const Sanitize* s = local((const void*)p) ? nullptr : on();                                                    \
    if (s) s->lock((const void*)p);                                                                                \
    const T v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                              \
    return s ? (T)s->atomic((const void*)p, sizeof(T), kLoad, o, bits(v), bits(v), EMU_PC) : v;                    \
  }                                                                                                                \
  void __tsan_atomic##n##_store(volatile T* p, T v, int o) {                                                       \
    const Sanitize* s = local((const void*)p) ? nullptr : on();                                                    \
    if (!s) return __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                       \
    s->lock((const void*)p);                                                                                       \
    const T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                            \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                      \
    s->atomic((const void*)p, sizeof(T), kStore, o, bits(old), bits(v), EMU_PC);                                   \
  }                                                                                                                \
  T __tsan_atomic##n##_exchange(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST), v) } \
  T __tsan_atomic##n##_fetch_add(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST), old + v) } \
  T __tsan_atomic##n##_fetch_sub(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST), old - v) } \
  T __tsan_atomic##n##_fetch_and(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST), old & v) } \
  T __tsan_atomic##n##_fetch_or(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST), old | v) }   \
  T __tsan_atomic##n##_fetch_xor(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST), old ^ v) } \
  T __tsan_atomic##n##_fetch_nand(volatile T* p, T v, int o) { EMU_ATOMICALLY(kSwap, T, p, o, __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST), ~(old & v)) } \
  int __tsan_atomic##n##_compare_exchange_strong(volatile T* p, T* want, T v, int o, int) {                        \
    const Sanitize* s = local((const void*)p) ? nullptr : on();                                                    \
    if (s) s->lock((const void*)p);                                                                                \
    const bool done = __atomic_compare_exchange_n(p, want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
    if (s) s->atomic((const void*)p, sizeof(T), done ? kSwap : kFailedSwap, o, bits(*want), bits(v), EMU_PC);            \
    return done;                                                                                                   \
  }                                                                                                                \
  int __tsan_atomic##n##_compare_exchange_weak(volatile T* p, T* want, T v, int o, int) {                          \
    const Sanitize* s = local((const void*)p) ? nullptr : on();                                                    \
    if (s) s->lock((const void*)p);                                                                                \
    const bool done = __atomic_compare_exchange_n(p, want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
    if (s) s->atomic((const void*)p, sizeof(T), done ? kSwap : kFailedSwap, o, bits(*want), bits(v), EMU_PC);            \
    return done;                                                                                                   \
  }                                                                                                                \
  T __tsan_atomic##n##_compare_exchange_val(volatile T* p, T want, T v, int o, int) {                              \
    const Sanitize* s = local((const void*)p) ? nullptr : on();                                                    \
    if (s) s->lock((const void*)p);                                                                                \
    const bool done = __atomic_compare_exchange_n(p, &want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
    if (s) s->atomic((const void*)p, sizeof(T), done ? kSwap : kFailedSwap, o, bits(want), bits(v), EMU_PC);             \
    return want;                                                                                                   \
  }
EMU_ATOMIC_TYPE(8, unsigned char)
EMU_ATOMIC_TYPE(16, unsigned short)
EMU_ATOMIC_TYPE(32, unsigned)
EMU_ATOMIC_TYPE(64, unsigned long)

// Replacements of the C library's functions, which are not watched.
void* memcpy(void* to, const void* from, Size n) {
  if (const Sanitize* s = on()) {
    if (!local(from)) s->range(from, n, kRead, EMU_PC);
    if (!local(to)) s->range(to, n, kWrite, EMU_PC);
  }
  copy_up(to, from, n);
  return to;
}
void* memmove(void* to, const void* from, Size n) {
  if (const Sanitize* s = on()) {
    if (!local(from)) s->range(from, n, kRead, EMU_PC);
    if (!local(to)) s->range(to, n, kWrite, EMU_PC);
  }
  if ((Size)((char*)to - (const char*)from) >= n) copy_up(to, from, n);
  else copy_down(to, from, n);
  return to;
}
void* memset(void* to, int v, Size n) {
  if (!local(to))
    if (const Sanitize* s = on()) s->range(to, n, kWrite, EMU_PC);
  fill_bytes(to, v, n);
  return to;
}

// Undefined behaviour ends the kernel; an index out of an array's bounds is reported first.
struct EmuType {
  // for an integer, info is twice the logarithm of its bits, + 1 if it is signed
  unsigned short kind, info;
  char name[];
};
struct EmuArray {
  const char* file;
  unsigned line, column;
  const EmuType *array, *index;
};
void __ubsan_handle_out_of_bounds(const EmuArray* a, unsigned long index) {
  const unsigned unused = 64 - (1u << (a->index->info >> 1));
  const long long i = a->index->info & 1 ? (long long)(index << unused) >> unused : (long long)(index << unused >> unused);
  if (const Sanitize* s = on()) s->index(i, a->array->name, EMU_PC);
  __builtin_trap();
}
void __ubsan_handle_shift_out_of_bounds(void*, unsigned long, unsigned long) { __builtin_trap(); }
#if defined(__aarch64__)
void __ubsan_handle_divrem_overflow(void*, unsigned long, unsigned long) { asm volatile("brk #0x5503"); }  // as clang++ does
#endif
void __ubsan_handle_float_cast_overflow(void*, unsigned long) { __builtin_trap(); }
void __ubsan_handle_type_mismatch_v1(void*, unsigned long) { __builtin_trap(); }
}
