#include "block.h"

#include <asm/prctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "device.h"
#include "grid.h"

namespace emu {

namespace {

constexpr std::size_t kSignalStack = 64 << 10;

thread_local Executor* tls_executor = nullptr;

// InRuntime marks a section in which the fiber must not be abandoned or preempted. The mark belongs to the executor: it stays set across a switch
// and is cleared by whoever leaves the emulator next.
class InRuntime {
 public:
  explicit InRuntime(Executor* e) : e_(e) { mark(true); }
  ~InRuntime() { mark(false); }

 private:
  void mark(bool b) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    e_->in_runtime.store(b, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Executor* e_;
};

Executor* executor() { return static_cast<Executor*>(worker()); }

// saved_frame_pointer is where emu_switch has put it.
std::uint64_t saved_frame_pointer(const Fiber* f) { return static_cast<const std::uint64_t*>(f->sp)[5]; }

std::uint64_t frame_pointer() { return reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)); }

// deadlock: every thread of the block waits for one that will not come.
[[noreturn]] void deadlock(Executor* e) {
  const Fiber* who = nullptr;
  unsigned at_barrier = 0, at_warp = 0;
  for (unsigned i = 0; i < e->count; i++) {
    const Fiber* f = &e->fibers[i];
    if (f->state == State::kRunning) continue;
    if (!who) who = f;
    (f->state == State::kBarrier ? at_barrier : at_warp)++;
  }
  e->thread = const_cast<Fiber*>(who);
  Grid* g = e->launch();
  if (g->fault.claim(*e)) {
    record_frames(*e, g->fault, saved_frame_pointer(who));
    snprintf(g->fault.text, sizeof g->fault.text,
             "deadlock in the block: %u threads wait at __syncthreads, %u in a warp operation for lanes of their mask, and no thread can go on",
             at_barrier, at_warp);
  }
  g->stop.store(Stop::kFault);
  abandon(e);
}

void release_barrier(Executor* e) {
  e->votes = {e->yes, e->arrived};
  e->yes = e->arrived = 0;
  e->ready.append(e->at_barrier);
  e->advanced();
}

// complete_warp runs the operation of a group of lanes if all of them have come. Every lane but self becomes ready.
bool complete_warp(Executor* e, unsigned index, const Fiber* any, const Fiber* self) {
  Warp& w = e->warps[index];
  Fiber* lanes = e->fibers + index * kWarpSize;
  const unsigned group = any->mask & w.alive;
  if ((w.arrived & group) != group) return false;
  Lanes op;
  op.mask = group;
  for (unsigned m = group; m; m &= m - 1) {
    const unsigned l = __builtin_ctz(m);
    if (lanes[l].mask != any->mask) return false;
    op.value[l] = lanes[l].value;
    op.argument[l] = lanes[l].argument;
  }
  any->combine(&op);
  w.arrived &= ~group;
  for (unsigned m = group; m; m &= m - 1) {
    const unsigned l = __builtin_ctz(m);
    lanes[l].result = op.result[l];
    if (&lanes[l] != self) e->ready.push(&lanes[l]);
  }
  e->advanced();
  return true;
}

// finish: the thread has returned from the kernel, and nobody waits for it any more.
void finish(Executor* e, Fiber* f) {
  f->state = State::kRunning;
  e->alive--;
  const unsigned index = f->linear / kWarpSize;
  Warp& w = e->warps[index];
  w.alive &= ~(1u << f->linear % kWarpSize);
  for (unsigned waiting = w.arrived; waiting; waiting &= waiting - 1) {
    const unsigned l = __builtin_ctz(waiting);
    if (w.arrived >> l & 1) complete_warp(e, index, &e->fibers[index * kWarpSize + l], nullptr);
  }
  if (e->alive && e->arrived == e->alive) release_barrier(e);
  e->advanced();
}

Fiber* start_next(Executor* e) {
  Fiber* f = &e->fibers[e->started];
  f->index = e->cursor;
  f->linear = e->started++;
  f->state = State::kRunning;
  if (++e->cursor.x == e->block_dim.x) {
    e->cursor.x = 0;
    if (++e->cursor.y == e->block_dim.y) e->cursor.y = 0, e->cursor.z++;
  }
  return f;
}

// carry is what runs on a fresh stack: the threads not yet started, until one of them keeps the stack by waiting.
void carry() {
  Executor* e = executor();
  const int stack = e->fresh_stack;
  Grid* g = e->launch();
  void (*const run)(const char*) = g->entry->run;
  const char* const arguments = g->arguments;
  while (e->started < e->count) {
    Fiber* f = start_next(e);
    e->thread = f;
    e->in_runtime.store(false, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    run(arguments);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    e->in_runtime.store(true, std::memory_order_relaxed);
    finish(e, f);
  }
  e->stacks.give(stack);
  if (Fiber* next = e->ready.pop()) {
    e->thread = next;
    emu_resume(next->sp);
  }
  if (e->alive) deadlock(e);
  emu_resume(e->main_sp);
}

// dispatch lets somebody else run. It returns when self, which the caller has put into some queue, is run again.
void dispatch(Executor* e, Fiber* self) {
  if (e->started < e->count) {
    const int s = e->fresh_stack = e->stacks.take();
    emu_switch(&self->sp, e->stacks.prepare(s, carry));
  } else if (Fiber* next = e->ready.pop()) {
    if (next != self) {
      e->thread = next;
      emu_switch(&self->sp, next->sp);
    }
  } else {
    deadlock(e);
  }
  self->state = State::kRunning;
}

void sleep_us(long us) {
  timespec t{0, us * 1000};
  nanosleep(&t, nullptr);
}

// failed_poll: all the block does is poll. What it polls for may be up to a block that has not started, another process, or nobody.
void failed_poll(Executor* e) {
  constexpr unsigned kSpin = 64, kYield = 300, kSleep = 2000;
  if (e->polls++ < e->next_pass) return;
  e->next_pass = e->polls + e->ready.size;  // when everybody has polled once more
  const unsigned pass = ++e->passes;
  Grid* g = e->launch();
  if (pass == kSpin && g->pending()) e->device->help(*g, 1);
  if (pass < kSpin) return;
  if (pass < kYield) sched_yield();
  else sleep_us(pass < kSleep ? 50 : 500);
}

void yield_as(Executor* e) {
  Fiber* self = e->current();
  Grid* g = e->launch();
  e->progress.store(e->progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (e->must_stop()) {
    g->interrupted(*e, frame_pointer());
    abandon(e);
  }
  failed_poll(e);
  e->ready.push(self);
  self->state = State::kPolling;
  dispatch(e, self);
}

void yield() {
  Executor* e = executor();
  InRuntime mark(e);
  yield_as(e);
}

Votes barrier(bool predicate) {
  Executor* e = executor();
  InRuntime mark(e);
  e->yes += predicate;
  if (++e->arrived == e->alive) {
    release_barrier(e);
  } else {
    Fiber* self = e->current();
    self->state = State::kBarrier;
    e->at_barrier.push(self);
    dispatch(e, self);
  }
  return e->votes;
}

void grid_barrier() {
  barrier(false);
  Executor* e = executor();
  if (e->thread->linear == 0) {
    Grid* g = e->launch();
    const unsigned generation = g->barrier_generation.load();
    if (g->barrier_arrived.fetch_add(1) + 1 == g->blocks) {
      g->barrier_arrived.store(0);
      g->barrier_generation.fetch_add(1);
    } else {
      while (g->barrier_generation.load() == generation) yield();
    }
  }
  barrier(false);
}

unsigned long long warp(unsigned mask, unsigned long long value, unsigned argument, void (*combine)(Lanes*)) {
  Executor* e = executor();
  InRuntime mark(e);
  Fiber* self = e->current();
  const unsigned index = self->linear / kWarpSize, bit = 1u << self->linear % kWarpSize;
  self->mask = mask | bit;
  self->argument = argument;
  self->value = value;
  self->combine = combine;
  e->warps[index].arrived |= bit;
  if (!complete_warp(e, index, self, self)) {
    self->state = State::kWarp;
    dispatch(e, self);
  }
  return self->result;
}

void print(const char* text, Size n) {
  InRuntime mark(executor());
  while (n > 0) {
    const ssize_t k = write(STDOUT_FILENO, text, n);
    if (k <= 0) return;
    text += k;
    n -= static_cast<Size>(k);
  }
}

void fail(const char* what, const char* file, int line) {
  Executor* e = executor();
  InRuntime mark(e);
  Grid* g = e->launch();
  if (g->fault.claim(*e)) {
    record_frames(*e, g->fault, frame_pointer());
    snprintf(g->fault.text, sizeof g->fault.text, "%s", what);
    snprintf(g->fault.file, sizeof g->fault.file, "%s", file);
    g->fault.line = line;
  }
  g->stop.store(Stop::kFault);
  abandon(e);
}

unsigned long long nanos() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

}  // namespace

const Api api = {barrier, grid_barrier, warp, yield, print, fail, nanos};

Executor* here() { return tls_executor; }

void abandon(Executor* e) {
  e->in_runtime.store(true, std::memory_order_relaxed);
  emu_resume(e->main_sp);
}

Executor::Executor(Device* d) : Worker{}, device(d), fibers(new Fiber[kMaxThreads]()), stacks(kMaxThreads) {
  self = this;
  emu::Worker::api = &emu::api;
  signal_stack = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Executor::~Executor() {
  munmap(signal_stack, kSignalStack);
  delete[] fibers;
}

void Executor::adopt() {
  os_thread = pthread_self();
  tls_executor = this;
  stack_t s{};
  s.ss_sp = signal_stack;
  s.ss_size = kSignalStack;
  sigaltstack(&s, nullptr);
  syscall(SYS_arch_prctl, ARCH_SET_GS, static_cast<Worker*>(this));
  prctl(PR_SET_TIMERSLACK, 1000);
}

void Executor::retire() {
  tls_executor = nullptr;
  stack_t s{};
  s.ss_flags = SS_DISABLE;
  sigaltstack(&s, nullptr);
}

bool Executor::must_stop() {
  std::atomic<Stop>& stop = launch()->stop;
  if (stop.load(std::memory_order_relaxed) == Stop::kNo && (closing.load() || (stop_wanted.load() && device->aborted())))
    stop.store(Stop::kInterrupt);
  return stop.load(std::memory_order_relaxed) != Stop::kNo;
}

void Executor::run(Grid* g, unsigned long long index) {
  grid = g;
  grid_dim = g->dim;
  block_dim = g->block_dim;
  block = {static_cast<unsigned>(index % g->dim.x), static_cast<unsigned>(index / g->dim.x % g->dim.y),
           static_cast<unsigned>(index / g->dim.x / g->dim.y)};
  count = alive = block_dim.x * block_dim.y * block_dim.z;
  started = arrived = yes = 0;
  cursor = {};
  ready = {};
  at_barrier = {};
  for (unsigned i = 0; i * kWarpSize < count; i++) {
    const unsigned lanes = std::min(kWarpSize, count - i * kWarpSize);
    warps[i] = {lanes == kWarpSize ? ~0u : (1u << lanes) - 1, 0};
  }
  advanced();
  in_runtime.store(true, std::memory_order_relaxed);
  running.store(true, std::memory_order_relaxed);
  fresh_stack = stacks.take();
  emu_switch(&main_sp, stacks.prepare(fresh_stack, carry));
  running.store(false, std::memory_order_relaxed);
  if (g->stop.load(std::memory_order_relaxed) != Stop::kNo) stacks.reset();
}

}  // namespace emu

// emu_preempt is called between two instructions of a kernel that has done nothing for a while but compute.
extern "C" __attribute__((visibility("hidden"), used)) void emu_preempt() {
  using namespace emu;
  Executor* e = executor();
  InRuntime mark(e);
  Grid* g = e->launch();
  if (g->pending()) e->device->help(*g, 1);
  Fiber* self = e->current();
  self->state = State::kPolling;
  e->ready.push(self);
  dispatch(e, self);
}
