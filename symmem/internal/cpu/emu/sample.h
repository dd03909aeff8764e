// sample.h: samples what a long-running kernel does.
//
// A caller sets a sample to kWanted. The executor then single-steps a few hundred instructions of a
// thread with the processor's trap flag, and records which memory besides the stack they read; it
// pauses while the run time is active. A thread that only reads the same memory again and again
// spins: it waits for a change of it. Instructions are not emulated; only their memory operands are
// decoded.
//
// A kernel that the sanitizer watches calls the run time at each access. Its sample is the next accesses
// of a thread, without single steps: it takes as long as the kernel needs for them, and changes neither
// which thread runs next nor what a load returns.
//
// On aarch64 a process cannot single-step itself. There a thread spins if it has polled in vain by
// functions that the run time knows: atomic operations, inline PTX, cuda::atomic. A loop that reads
// a volatile variable is recognised in watched kernels only.
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

  // Used for a watched kernel, of which a step is an access by the thread.
  int latest = 0;            // the last step that was a new access
  unsigned others = 0;       // accesses by other threads since the thread's last one
  std::int64_t quiet = 0;    // processor time of the executor when a signal found that the block had made an access
  bool accessed = false;     // it has made one since
};

// resume_sample is called when a thread returns to its kernel from the run time, or with the
// address of an instruction that a signal has interrupted. It begins a sample if one is wanted, or
// continues one of this thread. It returns true if the thread has to be single-stepped, which a
// thread of a watched kernel never has.
bool resume_sample(Executor*, std::uint64_t pc = 0);

// sample_access is called at an access by a watched kernel while the executor's sample is active. pc is the
// return address of the call that reports the access.
void sample_access(Executor*, const void* p, bool writes, const void* pc);

// on_step handles the trap after each instruction of an executor.
void on_step(Executor*, ucontext_t*);

}  // namespace emu
