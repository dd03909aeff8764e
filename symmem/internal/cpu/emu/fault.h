// fault.h: what went wrong in a kernel, and the signal handlers that find out.
#pragma once

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"

namespace emu {

struct Executor;

// Fault is the first fault of a grid. It is plain data, filled once by whoever claims it.
struct Fault {
  static constexpr int kFrames = 16;

  std::atomic<bool> claimed{false};
  Index3 block{}, thread{};
  int signal = 0;  // SIGSEGV and the like, or 0 when text says it all
  int signal_code = 0;
  bool write = false;
  bool stack = false;  // the address is in a guard page
  bool shared = false; // the address is beyond the block's shared memory
  std::uint64_t address = 0;
  int frame_count = 0;
  std::uint64_t frames[kFrames] = {};  // code addresses, of the kernel, as they are in its file, innermost first
  char text[200] = {};
  char file[200] = {};
  int line = 0;

  // claim is true for the first caller, who then fills the rest.
  bool claim(const Executor&);
  void assign(const Fault&);
};

// record_frames appends to the frames those that the frame pointer leads to, of kernels only.
void record_frames(const Executor&, Fault&, std::uint64_t frame_pointer);

// install_handlers takes over the signals of faults from Go, to which it hands on what is not a kernel's, and preempt_signal.
void install_handlers();

// preempt_signal tells an executor to let other threads of its block run, or to leave a stopped grid.
int preempt_signal();

}  // namespace emu
