// emu_print.h: printf and assert. Text goes to file descriptor 1 in one write, so that lines of different threads do not mix.
#pragma once
#include "emu_abi.h"

extern "C" int vsnprintf(char*, size_t, const char*, __builtin_va_list) noexcept;

namespace emu {

__attribute__((noinline, format(printf, 1, 2))) inline int print(const char* format, ...) {
  char text[1024];
  __builtin_va_list args;
  __builtin_va_start(args, format);
  worker()->frame = __builtin_frame_address(0);
  int n = vsnprintf(text, sizeof text, format, args);
  worker()->frame = nullptr;
  __builtin_va_end(args);
  if (n < 0) return n;
  run_time().print(text, (unsigned)n < sizeof text ? (unsigned)n : sizeof text - 1);
  return n;
}

}  // namespace emu

// printf prints, and assert ends the grid with a fault if its condition is false.
//
// On the cpu device: text has at most 1023 bytes a call. On a GPU it arrives when the device is
// synchronised, and a buffer that is full loses text.
//
// Example:
//
//   assert(n > 0);
//   if (threadIdx.x == 0) printf("n is %d\n", n);
#define printf(...) ::emu::print(__VA_ARGS__)
#define assert(...) ((__VA_ARGS__) ? (void)0 : ::emu::run_time().fail("assertion `" #__VA_ARGS__ "' failed", __FILE__, __LINE__))
