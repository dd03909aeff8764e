// emu_launch.h: the table of a translation unit's kernels, with parameters as the compiler knows
// them. CPU_KERNEL adds a kernel of the program. A loaded module defines it as empty and lists its
// kernels, because its table must be constant: no code of a module may run when it is loaded.
#pragma once

#include "emu_abi.h"

namespace emu {

// The kernels of this module, in the order of the text.
inline Entry* entries = nullptr;
inline Entry** last_entry = &entries;

template <Size... I>
struct Indices {};
template <Size N, Size... I>
struct Count : Count<N - 1, N - 1, I...> {};
template <Size... I>
struct Count<0, I...> {
  using type = Indices<I...>;
};

// Layout packs parameters like a C struct.
template <class... P>
struct Layout {
  Param at[sizeof...(P) + 1] = {};
  unsigned bytes = 0;
  constexpr Layout() {
    constexpr unsigned size[] = {sizeof(P)..., 1}, align[] = {alignof(P)..., 1};
    for (Size i = 0; i < sizeof...(P); i++) {
      bytes = (bytes + align[i] - 1) / align[i] * align[i];
      at[i] = {bytes, size[i]};
      bytes += size[i];
    }
  }
};

template <auto Function>
struct Launch;

template <class... P, void (*Function)(P...)>
struct Launch<Function> {
  static constexpr Layout<P...> layout{};

  // This code is not the kernel's and is not watched. Compilers do not inline watched functions
  // into others.
  __attribute__((no_sanitize("thread"))) static void run(const char* arguments) { unpack(arguments, typename Count<sizeof...(P)>::type{}); }

  template <Size... I>
  __attribute__((always_inline, no_sanitize("thread"))) static void unpack([[maybe_unused]] const char* arguments, Indices<I...>) {
    each(*(const P*)(arguments + layout.at[I].offset)...);
  }

  // each runs the kernel for the current thread and those after it. The arguments and the thread stay in
  // registers.
  __attribute__((always_inline, no_sanitize("thread"))) static void each(P... p) {
    Worker* const w = worker();
    const Thread* t = w->thread;
    do Function(p...);
    while (w->follow(++t));
  }
};

template <auto Function>
constexpr Entry entry_of(const char* name) {
  using L = Launch<Function>;
  return {name, L::run, L::layout.at, sizeof(L::layout.at) / sizeof(Param) - 1, L::layout.bytes, nullptr};
}

// The table is built outside of kernels, where nothing is watched.
template <Size N>
__attribute__((no_sanitize("thread"))) Entry* linked(Entry (&table)[N]) {
  for (Size i = 1; i < N; i++) table[i - 1].next = &table[i];
  return table;
}

template <auto Function>
struct Registration {
  Entry entry;
  explicit Registration(const char* name) : entry(entry_of<Function>(name)) {
    *last_entry = &entry;
    last_entry = &entry.next;
  }
};

}  // namespace emu

#define EMU_JOIN_(a, b) a##b
#define EMU_JOIN(a, b) EMU_JOIN_(a, b)
#ifndef CPU_KERNEL
#define CPU_KERNEL(name, ...) static ::emu::Registration<__VA_ARGS__> EMU_JOIN(emu_registration_, __COUNTER__)(name);
#endif

// Additional parts of a loadable module: its table, with EMU_KERNEL for each kernel between
// EMU_TABLE and EMU_MODULE, or EMU_NO_KERNELS; and, if it has dynamic shared memory,
// EMU_DYNAMIC_SHARED_NAMES and the names that the linker has for it: see emu_shared.S.
#define EMU_TABLE static constinit ::emu::Entry emu_table[] = {
#define EMU_KERNEL(name, ...) ::emu::entry_of<__VA_ARGS__>(name),
#define EMU_MODULE }; EMU_ENTRIES(::emu::linked(emu_table))
#define EMU_NO_KERNELS EMU_ENTRIES(nullptr)
#define EMU_ENTRIES(list) \
  extern "C" __attribute__((visibility("default"), no_sanitize("thread"))) ::emu::Entry* emu_module_entries() { return list; }
#define EMU_DYNAMIC_SHARED_NAMES \
  extern "C" __attribute__((visibility("default"))) const char emu_module_has_dynamic_shared = 1; \
  asm(".hidden emu_dynamic_shared\n.type emu_dynamic_shared, @tls_object"); \
  extern "C" __thread char emu_dynamic_shared[]; \
  namespace emu { \
  struct DynamicShared { \
    template <class T> operator T*() const { return reinterpret_cast<T*>(emu_dynamic_shared); } \
  }; \
  inline DynamicShared dynamic_shared() { return {}; } \
  }
#define EMU_DYNAMIC_SHARED(name) asm(".set " name ", emu_dynamic_shared");
