// emu_machine.h: what kernels do by instructions of the machine, x86-64 or aarch64.
//
// Fences are in assembly, since the sanitizer would count one of the compiler's as a fence of the kernel. x86-64 keeps the order of loads and of
// stores, and needs instructions for none but a full fence; aarch64 keeps no order. docs/cpu-device.md lists the code that relies on each order.
#pragma once

namespace emu {

struct Worker;
struct alignas(16) Wide { unsigned long part[2]; };

#if defined(__x86_64__)

// worker returns the worker on whose thread of the system a kernel runs: the base of the segment GS is its address, and so is its first word.
// The compiler does not check what it is promised about the address.
__attribute__((always_inline, no_sanitize("alignment"))) inline Worker* worker() {
  Worker* w;
  asm("movq %%gs:0, %0" : "=r"(w));
  return (Worker*)__builtin_assume_aligned(w, 8);
}

// constant returns the 32-bit word at an offset in the worker. It does not change while a thread of a block lives, so the compiler keeps it in a
// register, whatever the thread stores.
template <int Offset>
__attribute__((always_inline)) inline unsigned constant() {
  unsigned v;
  asm("movl %%gs:%c1, %0" : "=r"(v) : "i"(Offset));
  return v;
}

// fence orders all accesses before it against all after it.
__attribute__((always_inline)) inline void fence() { asm volatile("mfence" ::: "memory"); }
// acquire orders loads before it against all accesses after it; release orders all accesses before it against stores after it.
__attribute__((always_inline)) inline void acquire() { asm volatile("" ::: "memory"); }
__attribute__((always_inline)) inline void release() { asm volatile("" ::: "memory"); }

// load_wide and store_wide access 16 aligned bytes at once.
__attribute__((always_inline)) inline Wide load_wide(const Wide* p) {
  float __attribute__((vector_size(16))) x;
  asm volatile("movdqa %1, %0" : "=x"(x) : "m"(*p) : "memory");
  return __builtin_bit_cast(Wide, x);
}
__attribute__((always_inline)) inline void store_wide(Wide* p, Wide v) {
  asm volatile("movdqa %1, %0" : "=m"(*p) : "x"(__builtin_bit_cast(float __attribute__((vector_size(16))), v)) : "memory");
}

// cycles returns a counter that runs at a constant rate.
__attribute__((always_inline)) inline unsigned long long cycles() { return __builtin_ia32_rdtsc(); }

// copy_up and copy_down copy n bytes from the first or from the last one on, and fill_bytes sets them. The compiler makes no calls of them.
inline void copy_up(void* to, const void* from, __SIZE_TYPE__ n) { asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory"); }
inline void copy_down(void* to, const void* from, __SIZE_TYPE__ n) {
  to = (char*)to + n - 1, from = (const char*)from + n - 1;
  asm volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
inline void fill_bytes(void* to, int v, __SIZE_TYPE__ n) { asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(v) : "memory"); }

#elif defined(__aarch64__)

// worker returns the worker on whose thread of the system a kernel runs. The run time keeps its address in a variable of each thread, at a
// constant distance from the thread pointer; the distance is in emu_worker, a word of each module that the run time writes when it loads the
// module.
__attribute__((always_inline)) inline Worker* worker() {
  Worker* w;
  unsigned long thread;
  asm("adrp %0, emu_worker\n\tldr %0, [%0, :lo12:emu_worker]\n\tmrs %1, tpidr_el0\n\tldr %0, [%1, %0]" : "=&r"(w), "=&r"(thread));
  return w;
}

// constant returns the 32-bit word at an offset in the worker. It does not change while a thread of a block lives, so the compiler keeps it in a
// register, whatever the thread stores.
template <int Offset>
__attribute__((always_inline)) inline unsigned constant() {
  unsigned v;
  asm("ldr %w0, [%1, %2]" : "=r"(v) : "r"(worker()), "i"(Offset));
  return v;
}

// fence orders all accesses before it against all after it.
__attribute__((always_inline)) inline void fence() { asm volatile("dmb ish" ::: "memory"); }
// acquire orders loads before it against all accesses after it; release orders all accesses before it against stores after it.
__attribute__((always_inline)) inline void acquire() { asm volatile("dmb ishld" ::: "memory"); }
__attribute__((always_inline)) inline void release() { asm volatile("dmb ish" ::: "memory"); }

// load_wide and store_wide access 16 aligned bytes at once, on processors with FEAT_LSE2; on others each half is one access.
__attribute__((always_inline)) inline Wide load_wide(const Wide* p) {
  Wide v;
  asm volatile("ldp %0, %1, %2" : "=r"(v.part[0]), "=r"(v.part[1]) : "Q"(*p) : "memory");
  return v;
}
__attribute__((always_inline)) inline void store_wide(Wide* p, Wide v) {
  asm volatile("stp %1, %2, %0" : "=Q"(*p) : "r"(v.part[0]), "r"(v.part[1]) : "memory");
}

// cycles returns a counter that runs at a constant rate.
__attribute__((always_inline)) inline unsigned long long cycles() {
  unsigned long long n;
  asm volatile("mrs %0, cntvct_el0" : "=r"(n));
  return n;
}

// copy_up and copy_down copy n bytes from the first or from the last one on, and fill_bytes sets them. The compiler makes no calls of them.
inline void copy_up(void* to, const void* from, __SIZE_TYPE__ n) {
  unsigned byte;
  asm volatile("1: cbz %2, 2f\n\tldrb %w3, [%1], #1\n\tstrb %w3, [%0], #1\n\tsub %2, %2, #1\n\tb 1b\n2:" : "+r"(to), "+r"(from), "+r"(n), "=&r"(byte) : : "memory");
}
inline void copy_down(void* to, const void* from, __SIZE_TYPE__ n) {
  unsigned byte;
  asm volatile("1: cbz %2, 2f\n\tsub %2, %2, #1\n\tldrb %w3, [%1, %2]\n\tstrb %w3, [%0, %2]\n\tb 1b\n2:" : "+r"(to), "+r"(from), "+r"(n), "=&r"(byte) : : "memory");
}
inline void fill_bytes(void* to, int v, __SIZE_TYPE__ n) {
  asm volatile("1: cbz %1, 2f\n\tstrb %w2, [%0], #1\n\tsub %1, %1, #1\n\tb 1b\n2:" : "+r"(to), "+r"(n) : "r"(v) : "memory");
}

#else
#error "the cpu device runs on x86-64 and aarch64"
#endif

}  // namespace emu
