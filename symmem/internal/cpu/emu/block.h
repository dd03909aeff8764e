// block.h: runs one thread block at a time on an operating-system thread.
//
// The threads of a block are fibers. They start one after the other on a single stack: a thread
// that never waits is a function call. The first thread that has to wait keeps that stack, and the
// next thread starts on a fresh one. So only blocks with barriers pay for them. All data here
// belongs to the executor's own thread; others only read the fields marked as shared.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "include/emu_abi.h"
#include "sample.h"
#include "shared.h"
#include "stacks.h"
#include "stand.h"
#include "turn.h"

namespace emu {

namespace sanitize {
class Block;
}

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kWarpSize = 32;
constexpr unsigned char kPollingMeetings = 4;
constexpr std::chrono::nanoseconds kSoon{50'000};

struct Device;
struct Grid;

enum class State : unsigned char { kRunning, kBarrier, kWarp, kPolling };

struct Fiber {
  State state;
  void* sp;  // valid while it does not run
  Fiber* next;
  unsigned char polling;  // it polled in vain less than kPollingMeetings barriers ago
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

  // adopt makes the calling thread this executor's thread; retire undoes it.
  void adopt();
  void retire();
  // preempt_soon lets the preempt signal come after kSoon, for a thread that may only spin.
  void preempt_soon();

  // run executes one block of the grid, until it ends or the grid is stopped. If more is set, it goes on with
  // other blocks of the grid for as long as no thread of theirs waits.
  void run(Grid*, unsigned long long block, bool more);
  // begin makes a block of the grid the one that runs; begin_next does so with one that was not taken, or
  // returns false.
  void begin(unsigned long long block);
  bool begin_next();

  void number_threads();
  Fiber* current() { return &fibers[thread - threads]; }
  unsigned linear(const Fiber* f) const { return static_cast<unsigned>(f - fibers); }
  Grid* launch() { return static_cast<Grid*>(grid); }

  Device* device;
  pthread_t os_thread{};
  timer_t timer{};  // of preempt_soon
  bool has_timer = false;
  void* signal_stack;

  Thread* threads;  // for a block of the shape in `shape`
  Index3 shape{};
  Fiber* fibers;    // parallel to threads
  Warp warps[kMaxThreads / kWarpSize];
  unsigned count = 0;  // threads of the block
  // Valid once a thread has waited (plain is false); before, no thread waits, and the rest follows from the
  // running thread.
  unsigned started = 0, alive = 0;
  FiberQueue ready, at_barrier, at_span[kSpans];
  unsigned arrived = 0, yes = 0;
  Votes votes{};
  Stacks stacks;
  Shared shared_memory;
  int fresh_stack = 0;
  bool chained = false;              // a block whose threads do not wait is followed by another one on the same stack
  bool left = false;                 // the block was abandoned: its threads are somewhere on their stacks
  void* main_sp = nullptr;           // the stack on which run waits
  sanitize::Block* watch = nullptr;  // for a watched block; reused by later blocks

  // How long there were only failed polls.
  unsigned polls = 0, next_pass = 0, passes = 0;
  unsigned stood = 0;   // how often all threads of the block have polled in vain since they stand still: see stand.h
  unsigned waited = 0;  // passes of the block
  Pauses pauses;
  unsigned char polling = 0;  // of any thread, counted in barriers

  // Read by signal handlers on the same thread, like in_runtime.
  std::atomic<bool> running{false};  // a block is running

  // Shared with the monitor.
  std::atomic<Grid*> active{nullptr};
  std::atomic<unsigned long long> began{0};  // start of its launch, in nanoseconds
  std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint64_t> blocks{0};  // number of blocks begun
  // the monitor has found it in the same block twice, or wants it to stop
  std::atomic<bool> attention{false};
  std::atomic<bool> stop_wanted{false};  // set by the monitor: it takes too long
  std::atomic<bool> closing{false};      // set by the stream: nothing waits for it any more
  std::atomic<bool> resting{false};      // it pauses between failed polls
  std::atomic<std::uint64_t> stand{0};   // the number of the stand, and stood
  std::atomic<bool> spins{false};        // a sample has shown that it polls, maybe in a way that shows by its instructions only

  Sample sample;

  // between reports whether `thread` is not the thread that runs, but the one after it, which it may have
  // become for a few instructions of Worker::follow. Only signal handlers find it so.
  bool between() const;

  // must_stop stops the grid if that was requested, and reports whether it is stopped.
  bool must_stop();

  // watched reports whether the sanitizer watches what it runs. Another thread of the system may ask.
  bool watched() const { return emu::Worker::api->sanitize; }

  // living returns the number of threads of the block, begun or not, that do not wait at a barrier. Another thread of
  // the system may ask, and gets a number that was right a moment ago.
  unsigned living() const { return plain ? count - thread->linear : alive - arrived; }

  // advanced: threads have met or ended. A barrier soon after a failed poll is part of the polling
  // loop, which may vote on the result, and does not end polling.
  void advanced(bool polling = false) {
    if (!polling) {
      polls = next_pass = passes = 0;
      pauses.restart();
    }
    if (stood) end_stand(*this);
    progress.store(progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

// current_executor is the calling thread's executor, or null. It is addressed by a constant distance from the thread pointer, also in a library.
extern constinit thread_local Executor* current_executor asm("emu_current_executor") __attribute__((tls_model("initial-exec")));
inline Executor* here() { return current_executor; }
inline Executor* executor() { return current_executor; }
__attribute__((always_inline)) inline std::uint64_t frame_pointer() { return reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)); }

// settle is called when a thread is about to wait. At the first such call in a block, it starts to
// count the living threads.
void settle(Executor*);
// dispatch runs another thread. It returns when self, which the caller has put into a queue, runs
// again. It is part of its callers: the less a waiting thread has on its stack, the fewer cache lines the
// threads of a block fill.
inline void dispatch(Executor*, Fiber* self);
// dispatch_first does the same while threads of the block have not started, or if none is ready.
void dispatch_first(Executor*, Fiber* self);
// release_barrier lets all threads continue that wait at the barrier.
void release_barrier(Executor*);
// complete_warp executes the operation of a group of lanes, given by any of them, if all have
// arrived. Every lane except self becomes ready.
bool complete_warp(Executor*, unsigned index, const Fiber* any, const Fiber* self);

// abandon ends the block at once: run returns, and the block's threads no longer exist.
[[noreturn]] void abandon(Executor*);

extern const Api api;
extern const Api watched_api;  // for watched kernels

}  // namespace emu

extern "C" {
void emu_switch(void** save, void* load);
[[noreturn]] void emu_resume(void* load);
void emu_preempted();
void emu_preempt();
}

namespace emu {

__attribute__((always_inline)) inline void dispatch(Executor* e, Fiber* self) {
  Fiber* const next = e->started < e->count ? nullptr : e->ready.pop();
  if (!next) {
    dispatch_first(e, self);
  } else if (next != self) {
    e->thread = &e->threads[e->linear(next)];
    emu_switch(&self->sp, next->sp);
  }
  self->state = State::kRunning;
}

}  // namespace emu
