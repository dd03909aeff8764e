// emu_abi.h: the interface between kernels compiled for the cpu device and the run time that
// executes them.
//
// A kernel finds everything through the worker it runs on: see worker in emu_machine.h. No symbol
// links the two, so the run time treats built-in kernels and kernels loaded later alike.
#pragma once

#include "emu_machine.h"
#include "emu_once.h"

namespace emu {

using Size = __SIZE_TYPE__;

struct Index3 {
  unsigned x, y, z;
};

// Lanes is the data of a warp operation: for each lane of the mask the value it provides, and the
// value it receives.
struct Lanes {
  unsigned mask;
  unsigned long long value[32];
  unsigned argument[32];
  unsigned long long result[32];
};

struct Votes {
  unsigned yes, all;
};

// Sanitize has the functions by which a watched kernel reports its actions: see sanitize.h. how is 1 for a write, plus
// 2 if the access is atomic or volatile; kind is 0 for a load, 1 for a store, 2 for both, 3 for a
// compare-and-exchange that fails; a scope is 0 for the block, 1 for the device, 2 for the system.
struct Sanitize {
  void (*access)(const void* p, unsigned size, unsigned how, const void* pc);
  void (*range)(const void* p, Size n, unsigned how, const void* pc);
  // lock is called before an atomic operation, atomic after it. atomic returns the value that a load
  // returns: old, or the value before the last store.
  void (*lock)(const void* p);
  unsigned long long (*atomic)(const void* p, unsigned size, unsigned kind, int order, unsigned long long old, unsigned long long stored, const void* pc);
  void (*fence)(int scope);
  // scope says that the next atomic operation has that scope, and is relaxed; with 4 added, that it
  // has its own order.
  void (*scope)(int scope);
  // wants says that the thread waits until a word equals a value.
  void (*wants)(const void* p, unsigned long long value, const void* pc);
  // first says that the thread reads a word next as the first value of a count; counts, that it
  // waits, or has waited, until the word has been increased by so much.
  void (*first)(const void* p, const void* pc);
  void (*counts)(const void* p);
  // index is called before an array access with an index out of bounds; the array's type has a
  // name.
  void (*index)(long long index, const char* array, const void* pc);
};

// Api has the functions of the run time that a kernel calls. Every function may switch to another thread of the block.
struct Api {
  // barrier is __syncthreads: it returns the number of threads, and of those whose predicate is
  // true.
  Votes (*barrier)(bool predicate);
  // grid_barrier is a barrier over all blocks of the grid.
  void (*grid_barrier)();
  // warp meets the lanes of mask; the last to arrive calls combine for all of them. It orders no
  // memory accesses.
  unsigned long long (*warp)(unsigned mask, unsigned long long value, unsigned argument, void (*combine)(Lanes*));
  // sync_warp is __syncwarp: the lanes of mask meet, and see each other's writes.
  void (*sync_warp)(unsigned mask);
  // yield is one failed poll: other threads run, and the thread sleeps if polls keep failing.
  void (*yield)();
  // found ends a polling loop: the next failed poll is the first of another one, which may end by itself.
  void (*found)();
  // report fills a WaitRecord whose state is kNone. A stop of the kernel does not come in between.
  void (*report)(void* record, const void* with, Size bytes);
  void (*print)(const char* text, Size n);
  // fail ends the grid with a fault.
  void (*fail)(const char* what, const char* file, int line);
  unsigned long long (*nanos)();
  // ring adds 1 to the eventfd of a sleeping thread.
  void (*ring)(int descriptor);
  // span_barrier is a barrier of so many threads of the block, identified by id, which is below
  // kSpans.
  void (*span_barrier)(unsigned id, unsigned threads);
  // leave ends the block at once. It does not return.
  void (*leave)();
  const Sanitize* sanitize;  // null if the kernel is not watched
};
constexpr unsigned kSpans = 16;

// Thread is a CUDA thread's place in its block; lane and warp follow from the linear one.
struct Thread {
  Index3 index;
  unsigned linear;
};

// Poll records the latest loads of a thread of a block: see emu_poll.h.
struct Poll {
  const void* p;                   // a word, whose next load ends a turn of the thread's loop
  const void* pc;                  // where it was loaded
  unsigned long long value;        // what was found there
  unsigned long long seen, before; // hashes of the other loads of this turn, and of the turn before
  unsigned loads, limit;           // loads since p was chosen, and after how many another word is chosen
  unsigned char waits;             // not 0: it waits, and is taken to after so many more loads of p that are no failed polls
  bool gave_way;                   // so other threads have run since its last load
  unsigned char endless;           // not 0: it waits in a loop that nothing but a change of memory ends; see stand.h
};

// kPolledAgain is Poll::endless of a thread that has polled in vain since the run time looked last.
constexpr unsigned char kPolledAgain = 2;

// Worker is the part that kernels see of an operating-system thread that runs a block.
struct Worker {
  Worker* self;
  // the shared memory of the block: the module's declarations, then the dynamic part; see
  // emu_shared.S
  char* shared;
  const Api* api;
  const Thread* thread;  // the running thread, in the table of the block's threads
  const Thread* end;  // the last one in that table that may run after another without a decision of the run time
  bool plain;  // no thread of the block has waited so far: they run one after the other on one stack
  bool in_runtime;  // the emulator's code runs: signal handlers must not abandon or preempt it
  const void* frame;  // printf's frame, while the C library runs
  Index3 block, grid_dim, block_dim;
  void* grid;            // the launch
  Poll* poll;            // by the number of the thread in its block

  __attribute__((always_inline)) void mark_runtime(bool b) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&in_runtime, b, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }

  // follow is called when the thread before t has returned from the kernel. It makes t the running thread and
  // returns true; or returns false, and leaves the running thread as it was, if the run time decides what is
  // next: t is not of the block, or a thread of the block has waited.
  //
  // A signal may make the running thread wait between any two instructions. Then `end` becomes the running
  // thread, so t does not run here if it was not yet stored, and runs here, as the last one, if it was.
  // Signal handlers leave a thread alone that is stored and beyond `end`: see Executor::between.
  __attribute__((always_inline)) bool follow(const Thread* t) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // all accesses of the thread before t are done
    thread = t;
    asm volatile("" : : "m"(thread));
    if (t <= *(const Thread* const volatile*)&end) return true;
    asm("" : "+r"(t));  // t - 1 is computed here, not in the loop
    thread = t - 1;
    return false;
  }
};

static_assert(__builtin_offsetof(Worker, shared) == 8);

// kDynamicShared is the alignment of dynamic shared memory, and the size that emu_shared.S adds to
// a module's own for it.
constexpr Size kDynamicShared = 128;

// Param is a kernel parameter's place in the argument buffer.
struct Param {
  unsigned offset, size;
};

// Entry is a launchable kernel.
struct Entry {
  const char* name;
  void (*run)(const char* arguments);  // runs the current thread, and those after it until one waits
  const Param* params;
  unsigned param_count;
  unsigned argument_bytes;
  Entry* next;
};

// run_time returns the functions of the emulator that a kernel calls.
inline const Api& run_time() { return *worker()->api; }

}  // namespace emu
