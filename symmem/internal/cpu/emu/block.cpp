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
  explicit InRuntime(Executor* e) : e_(e) { e->mark_runtime(true); }
  ~InRuntime() { e_->mark_runtime(false); }

 private:
  Executor* e_;
};

// settle is called when a thread is about to wait, the first of its block perhaps: from now on it is counted who is alive.
void settle(Executor* e) {
  if (!e->plain) return;
  e->plain = false;
  const unsigned done = e->thread->linear;
  e->started = done + 1;
  e->alive = e->count - done;
  for (unsigned i = 0; i * kWarpSize < e->count; i++) {
    const unsigned first = i * kWarpSize, lanes = std::min(kWarpSize, e->count - first);
    const unsigned all = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
    e->warps[i] = {done <= first ? all : done >= first + kWarpSize ? 0 : all & ~0u << (done - first), 0};
  }
}

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
  e->thread = &e->threads[e->linear(who)];
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

// leave_if_stopped ends the block if its grid is stopped, for a fault elsewhere or by the host.
void leave_if_stopped(Executor* e) {
  if (!e->must_stop()) return;
  e->launch()->interrupted(*e, frame_pointer());
  abandon(e);
}

// attend is called when the monitor asks for it: the block has been running for at least one of its ticks. It may wait for a block that has not begun, in a
// way that does not look like waiting. So more executors are called, one each tick, and not without end, for it may just have much to do.
void attend(Executor* e) {
  constexpr unsigned kMaxGuesses = 64;
  e->attention.store(false, std::memory_order_relaxed);
  leave_if_stopped(e);
  Grid* g = e->launch();
  if (e == g->owner && g->pending() && g->guesses++ < kMaxGuesses) e->device->help(*g, 1);
}

void release_barrier(Executor* e) {
  if (e->attention.load(std::memory_order_relaxed)) attend(e);
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
  if (e->attention.load(std::memory_order_relaxed)) attend(e);
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
  e->alive--;
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

// carry is what runs on a fresh stack: the threads not yet started, until one of them keeps the stack by waiting.
void carry() {
  Executor* e = executor();
  const int stack = e->fresh_stack;
  Grid* g = e->launch();
  while (e->plain || e->started < e->count) {
    if (!e->plain) e->thread = &e->threads[e->started++];
    e->mark_runtime(false);
    g->entry->run(g->arguments);
    e->mark_runtime(true);
    if (e->plain) break;  // all threads have run, and none has waited
    finish(e, e->current());
  }
  e->stacks.give(stack);
  if (e->plain) emu_resume(e->main_sp);
  if (Fiber* next = e->ready.pop()) {
    e->thread = &e->threads[e->linear(next)];
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
      e->thread = &e->threads[e->linear(next)];
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

// failed_poll: all the block does is poll. What it polls for may be up to another thread of the system, a block that has not started, or nobody.
void failed_poll(Executor* e) {
  constexpr unsigned kSpins = 32, kHelp = 8, kYields = 200, kShortSleeps = 2000;
  if (e->polls++ < e->next_pass) return;
  e->next_pass = e->polls + e->ready.size;  // when everybody has polled once more
  if (e->polls < kSpins) return;
  const unsigned pass = ++e->passes;
  Grid* g = e->launch();
  if (pass % kHelp == 0 && g->pending()) e->device->help(*g, 1);
  if (pass < kYields) sched_yield();
  else sleep_us(pass < kShortSleeps ? 50 : 500);
}

void yield_as(Executor* e) {
  Fiber* self = e->current();
  e->progress.store(e->progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  leave_if_stopped(e);
  failed_poll(e);
  e->ready.push(self);
  self->state = State::kPolling;
  dispatch(e, self);
}

void yield() {
  Executor* e = executor();
  InRuntime mark(e);
  settle(e);
  yield_as(e);
}

Votes barrier(bool predicate) {
  Executor* e = executor();
  InRuntime mark(e);
  settle(e);
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
  settle(e);
  Fiber* self = e->current();
  const unsigned linear = e->linear(self), index = linear / kWarpSize, bit = 1u << linear % kWarpSize;
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
  e->mark_runtime(true);
  emu_resume(e->main_sp);
}

Executor::Executor(Device* d) : Worker{}, device(d), threads(new Thread[kMaxThreads]()), fibers(new Fiber[kMaxThreads]()), stacks(kMaxThreads) {
  self = this;
  emu::Worker::api = &emu::api;
  signal_stack = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Executor::~Executor() {
  munmap(signal_stack, kSignalStack);
  delete[] fibers;
  delete[] threads;
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
  count = block_dim.x * block_dim.y * block_dim.z;
  number_threads();
  plain = true;
  thread = threads;
  last = threads + count - 1;
  arrived = yes = 0;
  ready = {};
  at_barrier = {};
  advanced();
  blocks.store(blocks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  mark_runtime(true);
  running.store(true, std::memory_order_relaxed);
  fresh_stack = stacks.take();
  emu_switch(&main_sp, stacks.prepare(fresh_stack, carry));
  running.store(false, std::memory_order_relaxed);
  if (g->stop.load(std::memory_order_relaxed) == Stop::kNo) return;
  stacks.reset();
  for (unsigned i = 0; i < count; i++) fibers[i].state = State::kRunning;
}

// number_threads fills the table of threads, which most blocks find as the one before has left it.
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

// emu_preempt is called between two instructions of a kernel that has done nothing for a while but compute.
extern "C" __attribute__((visibility("hidden"), used)) void emu_preempt() {
  using namespace emu;
  Executor* e = executor();
  InRuntime mark(e);
  attend(e);
  settle(e);
  Fiber* self = e->current();
  self->state = State::kPolling;
  e->ready.push(self);
  dispatch(e, self);
}
