// block.h: one thread block at a time on one operating-system thread.
//
// The threads of a block are fibers. They start one after the other on a single stack: a thread that never waits is a function call. The first
// that has to wait keeps that stack, and the next thread starts on a fresh one. So the cost of a barrier is paid by blocks that have one.
// Everything here belongs to the executor's own thread; only the fields marked shared are read by others.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"
#include "sample.h"
#include "shared.h"
#include "stacks.h"

namespace emu {

namespace sanitize {
class Block;
}

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kWarpSize = 32;
constexpr unsigned char kPollingMeetings = 4;

struct Device;
struct Grid;

enum class State : unsigned char { kRunning, kBarrier, kWarp, kPolling };

struct Fiber {
  State state;
  void* sp;  // while it does not run
  Fiber* next;
  unsigned char polling;  // it polled in vain, so many meetings ago less than kPollingMeetings
  // Its part in a warp operation.
  unsigned mask, argument;
  unsigned long long value, result;
  void (*combine)(Lanes*);
};

// FiberQueue is a list in order of arrival.
struct FiberQueue {
  Fiber* head = nullptr;
  Fiber* tail = nullptr;
  unsigned size = 0;

  void push(Fiber* f) {
    f->next = nullptr;
    (head ? tail->next : head) = f;
    tail = f;
    size++;
  }
  Fiber* pop() {
    Fiber* f = head;
    if (f) head = f->next, size--;
    return f;
  }
  void append(FiberQueue& other) {
    if (!other.head) return;
    (head ? tail->next : head) = other.head;
    tail = other.tail;
    size += other.size;
    other = {};
  }
};

struct Warp {
  unsigned alive, arrived;  // lanes
};

struct Executor : Worker {
  explicit Executor(Device*);
  ~Executor();
  Executor(const Executor&) = delete;

  // adopt makes the calling thread this executor's; retire undoes it.
  void adopt();
  void retire();

  // run executes one block of the grid, to its end or until the grid is stopped.
  void run(Grid*, unsigned long long block);

  void number_threads();
  Fiber* current() { return &fibers[thread - threads]; }
  unsigned linear(const Fiber* f) const { return static_cast<unsigned>(f - fibers); }
  Grid* launch() { return static_cast<Grid*>(grid); }

  Device* device;
  pthread_t os_thread{};
  void* signal_stack;

  Thread* threads;  // of the shape that shape says
  Index3 shape{};
  Fiber* fibers;    // parallel to threads
  Warp warps[kMaxThreads / kWarpSize];
  // Once a thread has waited (plain is false) these are kept; before, they follow from who runs.
  unsigned count = 0, started = 0, alive = 0;
  FiberQueue ready, at_barrier, at_span[kSpans];
  unsigned arrived = 0, yes = 0;
  Votes votes{};
  Stacks stacks;
  Shared shared_memory;
  int fresh_stack = 0;
  bool left = false;  // the block has ended before its end: its threads are somewhere on their stacks
  void* main_sp = nullptr;  // where run waits
  sanitize::Block* watch = nullptr;  // of a block that is watched; kept from block to block

  // How long nothing but failed polls has happened.
  unsigned polls = 0, next_pass = 0, passes = 0;
  unsigned char polling = 0;  // of any thread, by barriers

  // Read by the signal handlers, on the same thread, as is in_runtime.
  std::atomic<bool> running{false};  // a block is being run

  // Shared with the monitor.
  std::atomic<Grid*> active{nullptr};
  std::atomic<unsigned long long> began{0};  // its launch, in nanoseconds
  std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint64_t> blocks{0};  // begun
  std::atomic<bool> attention{false};    // the monitor has found it in the same block twice, or wants it to stop
  std::atomic<bool> stop_wanted{false};  // by the monitor: it lasts too long
  std::atomic<bool> closing{false};      // by the stream: nobody waits for it any more

  Sample sample;

  // must_stop stops the grid if somebody wants it stopped, and tells whether it is.
  bool must_stop();

  // advanced: threads have met or ended. A meeting soon after a poll in vain is part of the loop that polls, which may vote on what it found: that
  // is no end of polling.
  void advanced(bool polling = false) {
    if (!polling) polls = next_pass = passes = 0;
    progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

inline Executor* executor() { return static_cast<Executor*>(worker()); }
__attribute__((always_inline)) inline std::uint64_t frame_pointer() { return reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)); }

// settle is called when a thread is about to wait, the first of its block perhaps: from now on it is counted who is alive.
void settle(Executor*);
// dispatch lets somebody else run. It returns when self, which the caller has put into some queue, is run again.
void dispatch(Executor*, Fiber* self);
// release_barrier lets all go on who wait at it.
void release_barrier(Executor*);
// complete_warp runs the operation of a group of lanes, any of whom is given, if all of them have come. Every lane but self becomes ready.
bool complete_warp(Executor*, unsigned index, const Fiber* any, const Fiber* self);

// here is the calling thread's executor, or null.
Executor* here();

// abandon ends the block at once: run returns, and its threads are gone.
[[noreturn]] void abandon(Executor*);

extern const Api api;
extern const Api watched_api;  // of kernels that are watched

}  // namespace emu

extern "C" {
void emu_switch(void** save, void* load);
[[noreturn]] void emu_resume(void* load);
void emu_preempted();
void emu_preempt();
}
