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

// Code is the address range of a module's instructions.
struct Code {
  std::uintptr_t low, high;
  std::uintptr_t base;  // offset of addresses in the process from those in the file
  bool contains(std::uintptr_t pc) const { return pc >= low && pc < high; }
};

// code_of finds the mapped file that contains an address.
Code code_of(const void* address);

// shared_of returns the shared memory that a loaded module declares. The module is linked with
// emu_shared.S.
SharedNeed shared_of(const Code&);

// Span is a piece of memory.
struct Span {
  std::uintptr_t base;
  std::size_t bytes;
};
// variables_of lists the writable memory of the file that contains the code.
std::vector<Span> variables_of(const Code&);

enum class Stop : int { kNo, kFault, kInterrupt };

struct Grid {
  const Executor* owner;  // the stream's executor
  const Entry* entry;
  Code code;
  Index3 dim, block_dim;
  const char* arguments;
  sanitize::Watched* watched = nullptr;  // null if its accesses are not watched

  SharedNeed shared;
  std::size_t dynamic_shared = 0;  // requested bytes
  const char* library = "";        // the file of the kernel's module
  unsigned long long began = 0;    // nanoseconds
  unsigned long long blocks = 0;
  // the block that begins first, followed by those after it, cyclically
  unsigned long long first = 0;
  std::atomic<unsigned long long> next{0};  // the first block that was not taken
  std::atomic<Stop> stop{Stop::kNo};
  std::atomic<bool> spins{false};  // a block was seen to poll in a way that shows by its instructions only
  unsigned guesses = 0;  // helpers that the owner has called because a block took long
  std::atomic<unsigned> barrier_arrived{0}, barrier_generation{0};
  std::atomic<unsigned> left{0};  // abandoned blocks, which do not arrive at barriers of the grid
  std::atomic<unsigned> helpers{0};  // executors that help or were asked to; the device's lock guards changes
  std::atomic<unsigned> called{0};   // those of them that have not come yet; likewise
  Fault fault;

  bool pending() const { return next.load(std::memory_order_relaxed) < blocks; }
  // uncalled returns the number of blocks that were not taken, beyond those for which an executor was called.
  unsigned long long uncalled() const {
    const unsigned long long taken = next.load() + called.load();
    return taken < blocks ? blocks - taken : 0;
  }
  void enter(Executor&);  // called before blocks are run
  // take takes a block, and returns false if none remain or the grid is stopped.
  bool take(unsigned long long& block);
  // work runs blocks until none remain.
  void work(Executor&);
  // execute runs the whole grid, on this executor and its helpers.
  void execute(Executor&);
  // interrupted records that the executor had to stop, unless there is a fault already.
  void interrupted(Executor&, std::uint64_t frame_pointer);
};

}  // namespace emu
