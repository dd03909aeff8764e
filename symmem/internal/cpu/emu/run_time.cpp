// Functions that kernels call: barriers, warp operations, polls, and others.

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "block.h"
#include "device.h"
#include "grid.h"
#include "machine.h"
#include "recording.h"
#include "sanitize.h"
#include "stand.h"
#include "turn.h"

namespace emu {

namespace {

// InRuntime marks a section in which the fiber must not be abandoned or preempted. The mark belongs to the executor: it stays set across a switch
// and is cleared by whoever leaves the emulator next.
class InRuntime {
 public:
  explicit InRuntime(Executor* e) : e_(e) { e->mark_runtime(true); }
  ~InRuntime() {
    e_->mark_runtime(false);
    if (e_->sample.state.load(std::memory_order_relaxed) != Sample::kNone && resume_sample(e_)) machine::step();
  }

 private:
  Executor* e_;
};

// leave_if_stopped abandons the block if its grid is stopped, by a fault elsewhere or by the host.
void leave_if_stopped(Executor* e) {
  if (!e->must_stop()) return;
  e->launch()->interrupted(*e, frame_pointer());
  abandon(e);
}

// attend is called at the monitor's request: the block has been running for at least one tick. The
// block may wait for one that has not begun, in a way that does not look like waiting. So another
// executor is called at each tick, up to a limit, because the block may just have much work; if
// it is known to wait, as many are called as there are blocks.
void attend(Executor* e) {
  constexpr unsigned kMaxGuesses = 64;
  e->attention.store(false, std::memory_order_relaxed);
  leave_if_stopped(e);
  Grid* g = e->launch();
  if (!g->pending()) return;
  if (g->spins.load()) e->device->help(*g, ~0u);
  else if (e == g->owner && g->guesses++ < kMaxGuesses) e->device->help(*g, 1);
}

// rest pauses between failed polls. turn is how long the block runs between two pauses.
void rest(Executor* e, std::chrono::nanoseconds turn = Pauses::kTurn) {
  e->resting.store(true);
  e->pauses.pause(turn);
  e->resting.store(false);
}

// failed_poll: the block only polls. The result may depend on another thread of the system, on a
// block that has not started, or on nothing.
void failed_poll(Executor* e) {
  constexpr unsigned kSpins = 4, kHelp = 8, kYields = 200;
  if (e->polls++ < e->next_pass) return;
  e->next_pass = e->polls + e->ready.size;  // when every thread has polled once more
  if (e->polls < kSpins) return;
  const unsigned pass = ++e->passes;
  Grid* g = e->launch();
  // a value that changes, but not enough, may wait for a block that has not begun
  if (++e->waited % kHelp == 0 && g->pending()) e->device->help(*g, 1);
  if (e->sample.active()) return;
  if (pass >= kYields || Pauses::crowded() || !quick_yield()) {
    look_whether_stands(*e);
    rest(e);
  }
}

void yield_as(Executor* e) {
  Fiber* self = e->current();
  e->progress.store(e->progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  leave_if_stopped(e);
  failed_poll(e);
  self->polling = e->polling = kPollingMeetings;
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

unsigned long long nanos();

void found() {
  Executor* e = executor();
  InRuntime mark(e);
  e->advanced();
  e->poll[e->thread->linear].endless = 0;
  if (const auto r = e->device->recording()) r->waited(nanos());
}

void report(void* record, const void* with, Size bytes) {
  constexpr std::uint32_t kClaimed = 4;  // as in symm/context.cuh
  InRuntime mark(executor());
  std::uint32_t none = 0, *state = static_cast<std::uint32_t*>(record);
  if (!__atomic_compare_exchange_n(state, &none, kClaimed, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  std::memcpy(state + 1, static_cast<const std::uint32_t*>(with) + 1, bytes - sizeof *state);
  __atomic_store_n(state, *static_cast<const std::uint32_t*>(with), __ATOMIC_RELEASE);
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

// met_blocks ends a barrier of the grid if all blocks that were not abandoned have arrived.
void met_blocks(Grid* g) {
  unsigned all = static_cast<unsigned>(g->blocks) - g->left.load();
  if (all > 0 && g->barrier_arrived.compare_exchange_strong(all, 0)) g->barrier_generation.fetch_add(1);
}

// meet_blocks is the part of a barrier of the grid that one thread of each block executes.
void meet_blocks() {
  Grid* g = executor()->launch();
  const unsigned generation = g->barrier_generation.load();
  g->barrier_arrived.fetch_add(1);
  met_blocks(g);
  Poll& poll = executor()->poll[executor()->thread->linear];
  while (g->barrier_generation.load() == generation) {
    poll.endless = kPolledAgain;
    yield();
  }
  poll.endless = 0;
  if (executor()->stood) end_stand(*executor());
}

void leave() {
  Executor* e = executor();
  e->mark_runtime(true);
  e->left = true;
  Grid* g = e->launch();
  g->left.fetch_add(1);
  met_blocks(g);
  abandon(e);
}

void grid_barrier() {
  barrier(false);
  if (executor()->thread->linear == 0) meet_blocks();
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

void ring(int descriptor) {
  InRuntime mark(executor());
  const unsigned long long one = 1;
  // the bell already rings, or its owner has ended
  if (write(descriptor, &one, sizeof one) < 0) return;
}

void span_barrier(unsigned id, unsigned threads) {
  Executor* e = executor();
  if (id >= kSpans || threads == 0 || (threads % kWarpSize != 0 && threads != e->count) || threads > e->count) {
    fail("a barrier with a number is of whole warps of the block, and the id of a span is from 0 to 14", "", 0);
    return;
  }
  InRuntime mark(e);
  settle(e);
  FiberQueue& waiting = e->at_span[id];
  if (waiting.size + 1 == threads) {
    if (e->attention.load(std::memory_order_relaxed)) attend(e);
    e->ready.append(waiting);
    e->advanced(e->polling > 0);
    return;
  }
  Fiber* self = e->current();
  self->state = State::kBarrier;
  waiting.push(self);
  dispatch(e, self);
}

}  // namespace

void release_barrier(Executor* e) {
  if (e->attention.load(std::memory_order_relaxed)) attend(e);
  e->votes = {e->yes, e->arrived};
  e->yes = e->arrived = 0;
  e->ready.append(e->at_barrier);
  e->advanced(e->polling > 0);
  if (e->polling) e->polling--;
}

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
  bool polling = false;
  for (unsigned m = group; m; m &= m - 1) {
    const unsigned l = __builtin_ctz(m);
    lanes[l].result = op.result[l];
    if (lanes[l].polling) lanes[l].polling--, polling = true;
    if (&lanes[l] != self) e->ready.push(&lanes[l]);
  }
  e->advanced(polling);
  return true;
}

void nothing(Lanes* w) {
  for (unsigned m = w->mask; m; m &= m - 1) w->result[__builtin_ctz(m)] = 0;
}

void sync_warp(unsigned mask) { warp(mask, 0, 0, nothing); }

// The same for watched kernels.

Votes watched_barrier(bool predicate) {
  sanitize::Block& b = *executor()->watch;
  b.arrive_barrier(b.call_of(__builtin_return_address(0), __builtin_frame_address(0)));
  const Votes v = barrier(predicate);
  b.met_barrier();
  return v;
}

void watched_grid_barrier() {
  sanitize::Block& b = *executor()->watch;
  b.arrive_barrier(b.call_of(__builtin_return_address(0), __builtin_frame_address(0)));
  barrier(false);
  b.met_barrier();
  if (executor()->thread->linear == 0) {
    b.tell_grid();
    meet_blocks();
    b.learn_grid();
  }
  b.arrive_barrier(b.call_of(__builtin_return_address(0), __builtin_frame_address(0)));
  barrier(false);
  b.met_barrier();
}

unsigned long long watched_warp(unsigned mask, unsigned long long value, unsigned argument, void (*combine)(Lanes*)) {
  sanitize::Block& b = *executor()->watch;
  b.arrive_warp(mask, b.call_of(__builtin_return_address(0), __builtin_frame_address(0)));
  const unsigned long long result = warp(mask, value, argument, combine);
  b.met_warp(false);
  return result;
}

void watched_sync_warp(unsigned mask) {
  sanitize::Block& b = *executor()->watch;
  b.arrive_warp(mask, b.call_of(__builtin_return_address(0), __builtin_frame_address(0)));
  sync_warp(mask);
  b.met_warp(true);
}

void watched_span_barrier(unsigned id, unsigned threads) {
  sanitize::Block& b = *executor()->watch;
  b.arrive_span(id);
  span_barrier(id, threads);
  b.met_span(id);
}

const Api api = {barrier, grid_barrier, warp, sync_warp, yield, found, report, print, fail, nanos, ring, span_barrier, leave, nullptr};
const Api watched_api = {watched_barrier, watched_grid_barrier, watched_warp, watched_sync_warp, yield, found, report, print, fail, nanos, ring, watched_span_barrier, leave, &sanitize::hooks};

}  // namespace emu

// emu_preempt is called between two instructions of a kernel that has only computed for a while.
extern "C" __attribute__((visibility("hidden"), used)) void emu_preempt() {
  using namespace emu;
  Executor* e = executor();
  e->mark_runtime(true);
  Grid* g = e->launch();
  if (e->spins.load()) g->spins.store(true);
  attend(e);
  settle(e);
  if (g->spins.load()) {
    e->spins.store(true);  // so that no sample finds that out for each block again
    // every thread has spun once more; in a crowd one is enough: thousands that spin leave no processor for others
    if ((e->polls++ >= e->next_pass || Pauses::crowded()) && !e->sample.active()) {
      e->next_pass = e->polls + e->ready.size;
      rest(e, kSoon);
      leave_if_stopped(e);
    }
    e->preempt_soon();
  }
  Fiber* self = e->current();
  self->state = State::kPolling;
  e->ready.push(self);
  dispatch(e, self);
  e->mark_runtime(false);
}
