// grid.h: one launch of a kernel.
#pragma once

#include <atomic>
#include <vector>

#include "fault.h"
#include "include/emu_abi.h"
#include "shared.h"

namespace emu {

struct Device;
struct Executor;

namespace sanitize {
struct Watched;
}

// Code is where a module's instructions are.
struct Code {
  std::uintptr_t low, high;
  std::uintptr_t base;  // what to subtract from an address to find it in the file
  bool contains(std::uintptr_t pc) const { return pc >= low && pc < high; }
};

// code_of finds the mapped file that an address belongs to.
Code code_of(const void* address);

// shared_of is the shared memory that a loaded module declares, which is linked with emu_shared.s.
SharedNeed shared_of(const Code&);

// Span is some memory.
struct Span {
  std::uintptr_t base;
  std::size_t bytes;
};
// variables_of lists what can be written of the file that code is of.
std::vector<Span> variables_of(const Code&);

enum class Stop : int { kNo, kFault, kInterrupt };

struct Grid {
  const Executor* owner;  // the stream's
  const Entry* entry;
  Code code;
  Index3 dim, block_dim;
  const char* arguments;
  sanitize::Watched* watched = nullptr;  // null if nobody looks at its accesses

  SharedNeed shared;
  std::size_t dynamic_shared = 0;  // bytes that were asked for
  const char* library = "";  // the file of the kernel's module
  unsigned long long began = 0;  // nanoseconds
  unsigned long long blocks = 0;
  unsigned long long first = 0;  // the block that begins first; then those behind it, around
  std::atomic<unsigned long long> next{0};  // the first block nobody has taken
  std::atomic<Stop> stop{Stop::kNo};
  unsigned guesses = 0;  // helpers the owner has called because a block took long
  std::atomic<unsigned> barrier_arrived{0}, barrier_generation{0};
  std::atomic<unsigned> left{0};  // blocks that have ended before their end, and come to no barrier of the grid
  int helpers = 0;  // executors asked to help and not yet gone; guarded by the device
  Fault fault;

  bool pending() const { return next.load(std::memory_order_relaxed) < blocks; }
  void enter(Executor&);  // before blocks are run
  // work runs blocks until none is left.
  void work(Executor&);
  // execute runs the whole grid, on this executor and whoever helps.
  void execute(Executor&);
  // interrupted notes that the executor was told to stop, unless there is a fault already.
  void interrupted(Executor&, std::uint64_t frame_pointer);
};

}  // namespace emu
