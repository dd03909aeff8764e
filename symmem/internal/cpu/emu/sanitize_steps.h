// sanitize_steps.h: warps whose threads are taken to run in step.
//
// Sums of a warp in volatile shared memory were right as long as the threads of a warp ran one instruction at a time:
//
//	if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8]; }
//
// They need not, since Volta. All accesses are volatile, so that none of them is a race; but a thread may read before its neighbour
// has stored, or after it has stored twice. That is told of a thread which
//
//	- reads a word that another thread of its warp stores, with nothing that orders the two, even if all fences were there;
//	- runs the same store itself, so that both do the same work;
//	- goes on to its next store without reading again, as those do who wait for a value, and without a fence.
#pragma once

#include "sanitize_shadow.h"

namespace emu::sanitize {

// Step is a volatile access of a word of shared memory.
struct Step {
  u32 pc = 0, time = 0;
  u16 thread = 0;
  u8 size = 0;  // 0: none
};

// Stepped is the latest store of a word, and the latest reads of two threads, by a task.
struct Stepped {
  Task task = 0;
  Step store, read[2];
};

constexpr unsigned kStores = 4;

// Stepping is what a thread has done since it has fenced, or met others.
struct Stepping {
  u32 since = 0;           // the barrier behind which that is
  std::uintptr_t last = 0; // the word that it has read, if that was its latest access
  u32 last_pc = 0;
  u32 stores[kStores] = {};// where it has stored
  u8 next = 0;
  std::uintptr_t word = 0; // that it has read while another one stores it; 0: none
  Step read, store;

  bool stores_at(u32 pc) const {
    for (u32 s : stores)
      if (s == pc) return true;
    return false;
  }
};

}  // namespace emu::sanitize
