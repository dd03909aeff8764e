#include "block.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device.h"
#include "grid.h"
#include "machine.h"
#include "sanitize.h"

namespace emu {

constinit thread_local Executor* current_executor = nullptr;

namespace {

constexpr std::size_t kSignalStack = 64 << 10;

// zeroed returns something for each thread of a block. What no block uses takes no memory.
template <class T>
T* zeroed() {
  return static_cast<T*>(std::calloc(kMaxThreads, sizeof(T)));
}

// deadlock: every thread of the block waits for one that will not arrive. self is the running
// thread, or null in the scheduler.
[[noreturn]] void deadlock(Executor* e, const Fiber* self) {
  const Fiber* who = nullptr;
  unsigned at_barrier = 0, at_warp = 0;
  for (unsigned i = 0; i < e->count; i++) {
    const Fiber* f = &e->fibers[i];
    if (f->state == State::kRunning) continue;
    if (!who) who = f;
    (f->state == State::kBarrier ? at_barrier : at_warp)++;
  }
  e->thread = &e->threads[e->linear(who)];
  Grid* g = e->launch();
  if (g->fault.claim(*e)) {
    record_frames(*e, g->fault, who == self ? frame_pointer() : machine::saved_frame_pointer(who->sp));
    snprintf(g->fault.text, sizeof g->fault.text,
             "deadlock in the block: %u thread%s at __syncthreads, %u in a warp operation for lanes of their mask, and no thread can go on",
             at_barrier, at_barrier == 1 ? " waits" : "s wait", at_warp);
  }
  g->stop.store(Stop::kFault);
  abandon(e);
}

// finish: the thread has returned from the kernel, and no other waits for it.
void finish(Executor* e, Fiber* f) {
  e->alive--;
  f->polling = 0;
  const unsigned linear = e->linear(f), index = linear / kWarpSize;
  Warp& w = e->warps[index];
  w.alive &= ~(1u << linear % kWarpSize);
  for (unsigned waiting = w.arrived; waiting; waiting &= waiting - 1) {
    const unsigned l = __builtin_ctz(waiting);
    if (w.arrived >> l & 1) complete_warp(e, index, &e->fibers[index * kWarpSize + l], nullptr);
  }
  if (e->alive && e->arrived == e->alive) release_barrier(e);
  e->advanced();
}

// carry runs on a fresh stack: it executes the threads that have not started, until one of them
// keeps the stack by waiting.
void carry() {
  Executor* e = executor();
  const int stack = e->fresh_stack;
  Grid* g = e->launch();
  while (e->plain || e->started < e->count) {
    if (!e->plain) e->thread = &e->threads[e->started++];
    e->mark_runtime(false);
    g->entry->run(g->arguments);
    e->mark_runtime(true);
    if (!e->plain) {
      finish(e, e->current());
    } else if (!e->chained || !e->begin_next()) {  // all threads have run without waiting
      break;
    }
  }
  e->stacks.give(stack);
  if (e->plain) emu_resume(e->main_sp);
  if (Fiber* next = e->ready.pop()) {
    e->thread = &e->threads[e->linear(next)];
    emu_resume(next->sp);
  }
  if (e->alive) deadlock(e, nullptr);
  emu_resume(e->main_sp);
}

}  // namespace

void settle(Executor* e) {
  if (!e->plain) return;
  e->plain = false;
  e->end = e->thread;  // no other thread runs after this one unless the run time says so
  e->arrived = e->yes = 0;
  e->polling = 0;
  e->ready = {};
  e->at_barrier = {};
  for (FiberQueue& q : e->at_span) q = {};
  const unsigned done = e->thread->linear;
  e->started = done + 1;
  e->alive = e->count - done;
  for (unsigned i = 0; i * kWarpSize < e->count; i++) {
    const unsigned first = i * kWarpSize, lanes = std::min(kWarpSize, e->count - first);
    const unsigned all = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    e->warps[i] = {done <= first ? all : done >= first + kWarpSize ? 0 : all & ~0u << (done - first), 0};
  }
}

void dispatch_first(Executor* e, Fiber* self) {
  if (e->started == e->count) deadlock(e, self);
  const int s = e->fresh_stack = e->stacks.take();
  emu_switch(&self->sp, e->stacks.prepare(s, carry));
}

void abandon(Executor* e) {
  e->mark_runtime(true);
  emu_resume(e->main_sp);
}

Executor::Executor(Device* d) : Worker{}, device(d), threads(zeroed<Thread>()), fibers(zeroed<Fiber>()), stacks(kMaxThreads) {
  self = this;
  poll = zeroed<Poll>();
  emu::Worker::api = &emu::api;
  signal_stack = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Executor::~Executor() {
  munmap(signal_stack, kSignalStack);
  delete watch;
  std::free(poll);
  std::free(fibers);
  std::free(threads);
}

void Executor::adopt() {
  os_thread = pthread_self();
  current_executor = this;
  stack_t s{};
  s.ss_sp = signal_stack;
  s.ss_size = kSignalStack;
  sigaltstack(&s, nullptr);
  machine::adopt(static_cast<Worker*>(this));
  prctl(PR_SET_TIMERSLACK, 1000);
}

void Executor::preempt_soon() {
  if (watched()) return;  // it gives way at its accesses: see sanitize::Block::polled
  if (!has_timer) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = preempt_signal();
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  }
  const itimerspec soon{{}, {0, kSoon.count()}};
  if (has_timer) timer_settime(timer, 0, &soon, nullptr);
}

void Executor::retire() {
  if (has_timer) timer_delete(timer);
  has_timer = false;
  current_executor = nullptr;
  stack_t s{};
  s.ss_flags = SS_DISABLE;
  sigaltstack(&s, nullptr);
}

bool Executor::between() const {
  if (plain) return thread > end;
  const auto i = static_cast<unsigned>(thread - threads);
  return i >= started || !(warps[i / kWarpSize].alive >> i % kWarpSize & 1) || fibers[i].state != State::kRunning;
}

bool Executor::must_stop() {
  std::atomic<Stop>& stop = launch()->stop;
  if (stop.load(std::memory_order_relaxed) == Stop::kNo && (closing.load() || (stop_wanted.load() && device->aborted())))
    stop.store(Stop::kInterrupt);
  return stop.load(std::memory_order_relaxed) != Stop::kNo;
}

void Executor::begin(unsigned long long index) {
  const Index3 dim = grid_dim;
  block = {static_cast<unsigned>(index), 0, 0};
  if (index >= dim.x) {
    block = {static_cast<unsigned>(index % dim.x), static_cast<unsigned>(index / dim.x % dim.y),
             static_cast<unsigned>(index / dim.x / dim.y)};
  }
  plain = true;
  waited = 0;
  frame = nullptr;
  thread = threads;
  end = threads + count - 1;
  advanced();
  blocks.store(blocks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool Executor::begin_next() {
  unsigned long long index;
  if (!launch()->take(index)) return false;
  begin(index);
  if (launch()->spins.load(std::memory_order_relaxed)) preempt_soon();
  return true;
}

void Executor::run(Grid* g, unsigned long long index, bool more) {
  grid = g;
  grid_dim = g->dim;
  block_dim = g->block_dim;
  count = block_dim.x * block_dim.y * block_dim.z;
  chained = more && !g->watched;
  number_threads();
  begin(index);
  mark_runtime(true);
  running.store(true, std::memory_order_relaxed);
  if (g->watched) {
    if (!watch) watch = new sanitize::Block;
    watch->begin(*this, count, *g->watched, index);
    emu::Worker::api = &watched_api;
  }
  fresh_stack = stacks.take();
  if (g->spins.load(std::memory_order_relaxed)) preempt_soon();
  emu_switch(&main_sp, stacks.prepare(fresh_stack, carry));
  running.store(false, std::memory_order_relaxed);
  if (g->watched) {
    emu::Worker::api = &emu::api;
    watch->end();
  }
  if (g->stop.load(std::memory_order_relaxed) == Stop::kNo && !left) return;
  left = false;
  stacks.reset();
  ready = {};
  for (unsigned i = 0; i < count; i++) fibers[i].state = State::kRunning, poll[i] = {};
}

// number_threads fills the table of threads. Most blocks find it as the previous block has left it.
void Executor::number_threads() {
  if (shape.x == block_dim.x && shape.y == block_dim.y && shape.z == block_dim.z) return;
  shape = block_dim;
  Index3 at{};
  for (unsigned i = 0; i < count; i++) {
    threads[i] = {at, i};
    if (++at.x < shape.x) continue;
    at.x = 0;
    if (++at.y < shape.y) continue;
    at.y = 0, at.z++;
  }
}

}  // namespace emu
