#include "sample.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "block.h"
#include "grid.h"
#include "machine.h"
#include "operand.h"

namespace emu {

namespace {

constexpr int kSteps = 600, kLongSteps = 3000;  // the latter if some instruction was executed only once
constexpr int kPasses = 4;  // from a poll to the next

// A thread of a watched kernel spins if it makes kCalls accesses without a write, and none that is new in the
// second half of them. If the thread makes none while others make kPatience, another thread is sampled.
constexpr int kCalls = 1000;
constexpr unsigned kPatience = 64 * kMaxThreads;
// nanoseconds of processor time without an access after which a watched kernel computes
constexpr std::int64_t kQuiet = 20'000'000;

void note(Sample& s, std::uint64_t pc, const Operand& o) {
  for (int i = 0; i < s.noted; i++) {
    Sample::Access& a = s.accesses[i];
    if (a.pc != pc) continue;
    a.times++;
    a.moves |= a.address != o.address;
    return;
  }
  if (s.noted < Sample::kAccesses) s.accesses[s.noted++] = {pc, o.address, 1, false, o.writes};
}

// own reports whether memory is the emulator's, or a thread's stack.
bool own(const Executor& e, std::uint64_t address) {
  const auto within = [address](const void* p, std::size_t n) { return address - reinterpret_cast<std::uintptr_t>(p) < n; };
  const Api* a = e.emu::Worker::api;
  return e.stacks.contains(address) || within(&e, sizeof e) || within(e.poll, kMaxThreads * sizeof(Poll)) || within(e.threads, kMaxThreads * sizeof(Thread)) ||
         within(a, sizeof *a) || within(a->sanitize, sizeof *a->sanitize);
}

// add notes an address that the thread reads again and again.
void add(Executor* e, std::uint64_t read) {
  Sample& s = e->sample;
  const bool shared = e->shared_memory.contains(read);
  const std::uint64_t address = shared ? read - reinterpret_cast<std::uintptr_t>(e->shared) : read;
  bool known = s.count == Sample::kAddresses;
  for (int k = 0; k < s.count; k++) known |= s.addresses[k] == address && s.shared[k] == shared;
  if (!known) s.addresses[s.count] = address, s.shared[s.count++] = shared;
}

// repeats reports whether every access was made at least twice.
bool repeats(const Sample& s) {
  return std::all_of(s.accesses, s.accesses + s.noted, [](const Sample::Access& a) { return a.times > 1; });
}

// finish completes the sample.
void finish(Executor* e, bool spins) {
  Sample& s = e->sample;
  s.spins = spins && s.count > 0;
  if (s.spins) e->spins.store(true);
  s.state.store(Sample::kTaken, std::memory_order_release);
}

// end evaluates the sample's accesses. A thread that writes, or reads new addresses, makes
// progress.
void end(Executor* e) {
  Sample& s = e->sample;
  bool spins = s.noted < Sample::kAccesses;  // otherwise it is a long loop, not fully recorded
  for (int i = 0; i < s.noted; i++) {
    const Sample::Access& a = s.accesses[i];
    if (a.times < 2) continue;
    if (a.moves || a.changes) spins = false;
    add(e, a.address);
  }
  finish(e, spins);
}

void begin(Executor* e) {
  Sample& s = e->sample;
  const Grid* g = e->launch();
  s.began = g->began;
  std::strncpy(s.kernel, g->entry->name, sizeof s.kernel - 1);
  std::strncpy(s.library, g->library, sizeof s.library - 1);
  const Poll& poll = e->poll[e->thread->linear];
  s.pc = poll.waits ? reinterpret_cast<std::uintptr_t>(poll.pc) - 1 - g->code.base : 0;
  s.threads = e->living();
  s.spins = false;
  s.thread = e->thread;
  s.count = s.steps = s.passes = s.noted = s.latest = 0;
  s.others = 0;
  s.state.store(Sample::kStepping, std::memory_order_relaxed);
}

// take_at_once takes a sample without single steps: of the place, if it is known, or of failed polls, of which the run time keeps the words.
void take_at_once(Executor* e, std::uint64_t pc) {
  constexpr unsigned kPasses = 3;  // in which every thread has polled in vain
  if (pc == 0 && e->passes < kPasses) return;
  begin(e);
  Sample& s = e->sample;
  const Code& code = e->launch()->code;
  if (pc == 0) {
    const Poll& p = e->poll[e->thread->linear];
    if (p.waits) add(e, reinterpret_cast<std::uintptr_t>(p.p));
  } else if (code.contains(pc)) {
    s.pc = pc - code.base;
  }
  s.spins = s.count > 0;
  s.state.store(Sample::kTaken, std::memory_order_release);
}

// quiet handles a signal that has interrupted a watched kernel: no access would ever end the sample of a kernel
// that only computes.
void quiet(Executor* e) {
  Sample& s = e->sample;
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const std::int64_t now = t.tv_sec * 1'000'000'000ll + t.tv_nsec;
  if (s.state.load(std::memory_order_acquire) == Sample::kWanted) {
    begin(e);
    s.accessed = true;
  }
  if (s.accessed) s.accessed = false, s.quiet = now;
  else if (now - s.quiet > kQuiet) finish(e, false);
}

}  // namespace

void sample_access(Executor* e, const void* p, bool writes, const void* pc) {
  Sample& s = e->sample;
  const auto address = reinterpret_cast<std::uintptr_t>(p), place = reinterpret_cast<std::uintptr_t>(pc) - 1 - e->launch()->code.base;
  s.accessed = true;
  if (own(*e, address)) return;
  if (s.state.load(std::memory_order_acquire) == Sample::kWanted || (s.thread != e->thread && ++s.others > kPatience)) begin(e);
  if (s.thread != e->thread) return;
  s.others = 0;
  if (s.steps++ == 0) s.pc = place;
  if (writes) return finish(e, false);
  int i = 0;
  while (i < s.noted && !(s.accesses[i].pc == place && s.accesses[i].address == address)) i++;
  if (i == s.noted) {
    if (i == Sample::kAccesses) return finish(e, false);
    s.accesses[s.noted++] = {place, address, 0, false, false};
    s.latest = s.steps;
  }
  s.accesses[i].times++;
  if (s.steps < kCalls) return;
  for (i = 0; i < s.noted; i++)
    if (s.accesses[i].times > 1) add(e, s.accesses[i].address);
  finish(e, s.latest <= kCalls / 2);
}

bool resume_sample(Executor* e, std::uint64_t pc) {
  Sample& s = e->sample;
  if (e->watched()) {
    if (pc && s.active()) quiet(e);
    return false;
  }
  switch (s.state.load(std::memory_order_acquire)) {
    case Sample::kWanted:
      if (!machine::kSteps) return take_at_once(e, pc), false;
      begin(e);
      return true;
    case Sample::kStepping:
      if (s.thread != e->thread) return false;
      if (++s.passes < kPasses) return true;
      end(e);
  }
  return false;
}

void on_step(Executor* e, ucontext_t* u) {
  Sample& s = e->sample;
  const bool in_kernel = e->running.load(std::memory_order_relaxed) && !__atomic_load_n(&e->in_runtime, __ATOMIC_RELAXED);
  const bool given_up = s.state.load(std::memory_order_relaxed) != Sample::kStepping;
  const bool over = !given_up && ++s.steps > kSteps && (s.steps > kLongSteps || repeats(s));
  if (over) end(e);
  if (!in_kernel || given_up || over) return machine::set_stepping(u, false);
  const Code& code = e->launch()->code;
  const std::uint64_t pc = machine::pc_of(u);
  if (!code.contains(pc)) return;
  if (s.pc == 0) s.pc = pc - code.base;
  const Operand o = operand_of(u);
  if ((o.reads || o.writes) && !own(*e, o.address)) note(s, pc, o);
}

}  // namespace emu
