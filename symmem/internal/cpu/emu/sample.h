// sample.h: what a kernel does that runs long.
//
// Who asks sets a sample to kWanted. The executor then takes a few hundred instructions of a thread one by one, by the processor's trap flag, and notes which
// memory beside its stack they read; it pauses while the run time is at work. A thread that reads the same again and again and does nothing else spins: it waits for
// somebody to change it. No instruction is emulated: all that is decoded is which memory one refers to.
#pragma once

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"

namespace emu {

struct Executor;

struct Sample {
  static constexpr int kAddresses = 8;
  enum State : int { kNone, kWanted, kStepping, kTaken };

  std::atomic<int> state{kNone};

  // Written by the executor while it takes the sample.
  unsigned long long began = 0;  // the launch
  char kernel[128] = {};
  char library[1024] = {};
  std::uint64_t pc = 0;  // where it was first, as it is in the kernel's file; 0 if it never was in the kernel's code
  unsigned threads = 0;  // of the block, that have begun or will, and wait at no barrier
  bool spins = false;
  int count = 0;
  std::uint64_t addresses[kAddresses] = {};  // that it reads again and again
  bool shared[kAddresses] = {};  // of each: it is in the block's shared memory, and counts from there

  // Of the steps.
  struct Access {
    std::uint64_t pc, address;
    unsigned times;
    bool moves, changes;  // its address, the memory
  };
  static constexpr int kAccesses = 48;
  const Thread* thread = nullptr;
  int steps = 0, passes = 0, noted = 0;
  Access accesses[kAccesses];
};

// The processor's trap flag, in its flags.
constexpr std::uint64_t kTrapFlag = 0x100;

// resume_sample is called when a thread is in its kernel, or goes back to it from the run time: it begins a sample if one is wanted, or goes on with one of
// this thread. True if the trap flag is to be set.
bool resume_sample(Executor*);

// on_step is the handler of the trap after each instruction of an executor.
void on_step(Executor*, void* context);

}  // namespace emu
