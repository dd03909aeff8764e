// sample.h: samples what a long-running kernel does.
//
// A caller sets a sample to kWanted. The executor then single-steps a few hundred instructions of a
// thread with the processor's trap flag, and records which memory besides the stack they read; it
// pauses while the run time is active. A thread that only reads the same memory again and again
// spins: it waits for a change of it. Instructions are not emulated; only their memory operands are
// decoded.
//
// On aarch64 a process cannot single-step itself. There a thread spins if it has polled in vain by
// functions that the run time knows: atomic operations, inline PTX, cuda::atomic. A loop that reads
// a volatile variable is not recognised.
#pragma once

#include <sys/ucontext.h>

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"

namespace emu {

struct Executor;

struct Sample {
  static constexpr int kAddresses = 8;
  enum State : int { kNone, kWanted, kStepping, kTaken };

  std::atomic<int> state{kNone};
  // active reports whether the executor takes a sample, or is about to.
  bool active() const {
    const int s = state.load(std::memory_order_relaxed);
    return s == kWanted || s == kStepping;
  }

  // Written by the executor while it takes the sample.
  unsigned long long began = 0;  // start of the launch
  char kernel[128] = {};
  char library[1024] = {};
  // where it was first, as in the kernel's file; 0 if it was never in the kernel's code
  std::uint64_t pc = 0;
  unsigned threads = 0;  // threads of the block, begun or not, that do not wait at a barrier
  bool spins = false;
  int count = 0;
  std::uint64_t addresses[kAddresses] = {};  // addresses that it reads again and again
  bool shared[kAddresses] = {};              // for each: whether it is an offset in the block's shared memory

  // Used while stepping.
  struct Access {
    std::uint64_t pc, address;
    unsigned times;
    bool moves, changes;  // the address, or the memory there
  };
  static constexpr int kAccesses = 48;
  const Thread* thread = nullptr;
  int steps = 0, passes = 0, noted = 0;
  Access accesses[kAccesses];
};

// resume_sample is called when a thread returns to its kernel from the run time, or with the
// address of an instruction that a signal has interrupted. It begins a sample if one is wanted, or
// continues one of this thread. It returns true if the thread has to be single-stepped.
bool resume_sample(Executor*, std::uint64_t pc = 0);

// on_step handles the trap after each instruction of an executor.
void on_step(Executor*, ucontext_t*);

}  // namespace emu
