// sanitize_steps.h: code that assumes that the threads of a warp execute in lockstep.
//
// Sums of a warp in volatile shared memory were right as long as the threads of a warp ran one
// instruction at a time:
//
//	if (t < 32) { s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8]; }
//
// Since Volta, this is not guaranteed. All accesses are volatile, so none of them is a race; but a
// thread may read before its neighbour has stored, or after it has stored twice. This is reported
// for a thread that
//
//	- reads a word that another thread of its warp stores, with nothing that orders the two, even if all fences were there;
//	- runs the same store itself, so that both do the same work;
//	- continues with its next store without a fence and without reading again, as a thread that waits for a value would.
#pragma once

#include "sanitize_shadow.h"

namespace emu::sanitize {

// Step is a volatile access of a word of shared memory.
struct Step {
  u32 pc = 0, time = 0;
  u16 thread = 0;
  u8 size = 0;  // 0: none
};

// Stepped is the latest store of a word, and the latest reads by two threads, in a task.
struct Stepped {
  Task task = 0;
  Step store, read[2];
};

constexpr unsigned kStores = 4;

// Stepping records the actions of a thread since its last fence or barrier.
struct Stepping {
  u32 since = 0;            // the barrier after which that was
  std::uintptr_t last = 0;  // the word that it has read, if that was its latest access
  u32 last_pc = 0;
  u32 stores[kStores] = {};  // the places where it has stored
  u8 next = 0;
  // a word that it has read and another thread stores without order; 0: none
  std::uintptr_t word = 0;
  Step read, store;

  bool stores_at(u32 pc) const {
    for (u32 s : stores)
      if (s == pc) return true;
    return false;
  }
};

}  // namespace emu::sanitize
