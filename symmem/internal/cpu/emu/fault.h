// fault.h: faults of kernels, and the signal handlers that detect them.
#pragma once

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"

namespace emu {

struct Executor;

// Fault is the first fault of a grid. It is plain data, filled once by the thread that claims it.
struct Fault {
  static constexpr int kFrames = 16;

  std::atomic<bool> claimed{false};
  Index3 block{}, thread{};
  int signal = 0;  // SIGSEGV and the like; 0 if text describes the fault
  int signal_code = 0;
  bool write = false;
  bool stack = false;  // the address is in a guard page
  bool shared = false; // the address is beyond the block's shared memory
  std::uint64_t address = 0;
  int frame_count = 0;
  // addresses in the kernel's code, as in its file, innermost first
  std::uint64_t frames[kFrames] = {};
  char text[200] = {};
  char file[200] = {};
  int line = 0;

  // claim returns true for the first caller, which then fills in the rest.
  bool claim(const Executor&);
  void assign(const Fault&);
};

// record_frames appends the frames in kernels that follow from the frame pointer.
void record_frames(const Executor&, Fault&, std::uint64_t frame_pointer);

// install_handlers takes over the fault signals from Go, and preempt_signal. It hands signals that
// no kernel caused on to Go.
void install_handlers();

// preempt_signal makes an executor let other threads of its block run, or leave a stopped grid.
int preempt_signal();

}  // namespace emu
