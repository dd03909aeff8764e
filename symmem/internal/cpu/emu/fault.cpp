#include "fault.h"

#include <signal.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "block.h"
#include "grid.h"
#include "machine.h"
#include "sanitize.h"

namespace emu {

bool Fault::claim(const Executor& e) {
  if (claimed.exchange(true)) return false;
  block = e.block;
  if (e.thread) thread = e.thread->index;
  return true;
}

void Fault::assign(const Fault& o) {
  block = o.block;
  thread = o.thread;
  signal = o.signal;
  signal_code = o.signal_code;
  write = o.write;
  stack = o.stack;
  shared = o.shared;
  address = o.address;
  line = o.line;
  frame_count = o.frame_count;
  std::memcpy(frames, o.frames, sizeof frames);
  std::memcpy(text, o.text, sizeof text);
  std::memcpy(file, o.file, sizeof file);
  claimed.store(true);
}

namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction go_handlers[NSIG];

// Handlers run on the executor's signal stack, and access the interrupted code through its saved
// registers. To leave a kernel, they make the code continue in emu_resume.
void leave(ucontext_t* u, Executor* e) {
  e->mark_runtime(true);
  machine::leave(u, e->main_sp);
}

bool in_kernel(const Executor* e) {
  return e && e->running.load(std::memory_order_relaxed) && !__atomic_load_n(&e->in_runtime, __ATOMIC_RELAXED);
}

bool readable(const Executor& e, std::uint64_t a) { return a % 8 == 0 && e.stacks.contains(a + 8) && !e.stacks.guards(a); }

void append(Fault& f, const Code& code, std::uint64_t pc) {
  if (code.contains(pc) && f.frame_count < Fault::kFrames) f.frames[f.frame_count++] = pc - code.base;
}

// record_context records where the kernel was interrupted. The C library has no frame pointers: a
// leaf function of it is followed by its return address, and printf records its own frame.
void record_context(Executor* e, Fault& f, const ucontext_t* u) {
  const Code& code = e->launch()->code;
  const std::uint64_t pc = machine::pc_of(u);
  append(f, code, pc);
  if (e->frame) return record_frames(*e, f, reinterpret_cast<std::uint64_t>(e->frame));
  if (!code.contains(pc)) append(f, code, machine::caller_of(u, [e](std::uint64_t a) { return readable(*e, a); }) - 1);
  record_frames(*e, f, machine::frame_pointer_of(u));
}

// hand_on passes a signal to Go.
void hand_on(int sig, siginfo_t* info, void* context) {
  const struct sigaction& go = go_handlers[sig];
  if (go.sa_flags & SA_SIGINFO) return go.sa_sigaction(sig, info, context);
  // after the return, the fault happens again and meets the default action
  sigaction(sig, &go, nullptr);
}

// end_grid ends the grid with a fault of the interrupted kernel.
void end_grid(Executor* e, ucontext_t* u, int sig, int code, const void* address) {
  Grid* g = e->launch();
  Fault& f = g->fault;
  if (f.claim(*e)) {
    f.signal = sig;
    f.signal_code = code;
    f.address = reinterpret_cast<std::uint64_t>(address);
    f.write = sig == SIGSEGV && machine::writes(u);
    f.stack = sig == SIGSEGV && e->stacks.guards(f.address);
    f.shared = sig == SIGSEGV && e->shared_memory.contains(f.address);
    record_context(e, f, u);
  }
  g->stop.store(Stop::kFault);
  leave(u, e);
}

void on_trap(int sig, siginfo_t* info, void* context) {
  Executor* e = here();
  ucontext_t* u = static_cast<ucontext_t*>(context);
  if (!e || info->si_code <= 0 || info->si_code == SI_KERNEL) return hand_on(sig, info, context);
  switch (machine::trap_of(u)) {
    case machine::Trap::kStep: return on_step(e, u);
    case machine::Trap::kEnd: return machine::go_back(u);
    case machine::Trap::kUndefined:
      if (in_kernel(e)) return end_grid(e, u, SIGILL, ILL_ILLOPN, info->si_addr);
      break;
    case machine::Trap::kDivision:
      if (in_kernel(e)) return end_grid(e, u, SIGFPE, FPE_INTDIV, info->si_addr);
      break;
    case machine::Trap::kNone: break;
  }
  hand_on(sig, info, context);
}

void on_fault(int sig, siginfo_t* info, void* context) {
  Executor* e = here();
  if (!in_kernel(e) || info->si_code <= 0) return hand_on(sig, info, context);
  end_grid(e, static_cast<ucontext_t*>(context), sig, info->si_code, info->si_addr);
}

// try_again lets the preempt signal come again soon if blocks of the grid spin, as the executor cannot
// give way now. The monitor's next signal may be late, because hundreds of threads spin meanwhile. A
// handler must not make the timer: older C libraries allocate memory for it.
void try_again(Executor* e) {
  if (e->has_timer && e->running.load(std::memory_order_relaxed) && !e->resting.load() && e->launch()->spins.load(std::memory_order_relaxed))
    e->preempt_soon();
}

void on_preempt(int, siginfo_t*, void* context) {
  Executor* e = here();
  if (!e) return;
  if (!in_kernel(e)) return try_again(e);
  ucontext_t* u = static_cast<ucontext_t*>(context);
  Grid* g = e->launch();
  if (!g->code.contains(machine::pc_of(u))) return try_again(e);  // in a library
  if (g->watched && e->watch->in_atomic()) return try_again(e);   // it holds a lock
  if (e->between()) return try_again(e);                          // between two threads
  if (e->must_stop()) {
    if (g->fault.claim(*e)) {
      snprintf(g->fault.text, sizeof g->fault.text, "interrupted");
      record_context(e, g->fault, u);
    }
    return leave(u, e);
  }
  if (machine::stepping(u)) return;
  if (e->sample.state.load(std::memory_order_relaxed) != Sample::kNone && resume_sample(e, machine::pc_of(u))) return machine::set_stepping(u, true);
  const bool others = e->ready.head || (e->plain ? e->thread != e->end : e->started < e->count) || g->pending() || g->spins.load(std::memory_order_relaxed);
  if (!others || e->stacks.guards(machine::sp_of(u) - machine::kPreemptRoom)) return;
  machine::preempt(u);
}

}  // namespace

void record_frames(const Executor& e, Fault& f, std::uint64_t frame_pointer) {
  const Code& code = static_cast<const Grid*>(e.grid)->code;
  while (readable(e, frame_pointer)) {
    const std::uint64_t* frame = reinterpret_cast<std::uint64_t*>(frame_pointer);
    append(f, code, machine::return_address(frame[1]) - 1);  // the call, not the instruction after it
    if (frame[0] <= frame_pointer) return;
    frame_pointer = frame[0];
  }
}

int preempt_signal() { return SIGRTMAX - 3; }

void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction a {};
    a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigfillset(&a.sa_mask);
    a.sa_sigaction = on_fault;
    for (int s : kFaultSignals) sigaction(s, &a, &go_handlers[s]);
    a.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &a, &go_handlers[SIGTRAP]);
    a.sa_sigaction = on_preempt;
    sigaction(preempt_signal(), &a, nullptr);
  });
}

}  // namespace emu
