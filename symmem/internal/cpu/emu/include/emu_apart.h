// emu_apart.h: functions of headers that the sanitizer takes for a part of the code that calls them.
//
// A finding names the line of the snippet whose code accesses memory, so small functions of headers are
// inlined into the snippet. To inline large ones at every call takes the compiler seconds. They are
// compiled once, into a section of their own, and an access in this section has the line of the call.
#pragma once

// EMU_APART marks such a function. Its frame leads to its caller's: see call_of.
#define EMU_APART __attribute__((noinline, section("emu_apart"))) inline
// EMU_ONCE_APART marks such a function that is compiled once for all modules, too.
#define EMU_ONCE_APART __attribute__((section("emu_apart"))) EMU_ONCE

extern "C" {
// The linker defines the bounds of the section; without such functions both are 0.
extern const char __start_emu_apart[] __attribute__((weak, visibility("hidden")));
extern const char __stop_emu_apart[] __attribute__((weak, visibility("hidden")));
}

namespace emu {

// Apart is the section of a module.
struct Apart {
  const char *low, *high;
};

// call_of returns the return address of the innermost call that is not in the section. pc is the
// return address of a function, and frame the function's frame.
__attribute__((always_inline)) inline const void* call_of(const Apart& apart, const void* pc, const void* frame) {
  while (pc > apart.low && pc <= apart.high) {  // the instruction after a call may be behind the section
    frame = *(const void* const*)frame;
    pc = ((const void* const*)frame)[1];
#if defined(__aarch64__)
    pc = (const void*)((unsigned long)pc & ((1ul << 48) - 1));  // without the signature
#endif
  }
  return pc;
}

}  // namespace emu
