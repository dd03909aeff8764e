#pragma once
#if defined(__x86_64__)

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "block.h"

namespace emu::machine {

constexpr bool kSteps = true;
constexpr std::uint64_t kTrapFlag = 0x100, kDirectionFlag = 0x400;
constexpr std::size_t kPreemptRoom = 2048;

inline void adopt(Worker* w) {
  if (syscall(SYS_arch_prctl, ARCH_SET_GS, w) == 0) return;
  std::fputs("symmrepl: the system does not let a thread set its GS base, by which kernels find their block\n", stderr);
  std::abort();
}

// As emu_switch leaves it: six registers, the address to continue at, and a null return address.
inline void* prepare(std::uintptr_t top, void (*entry)()) {
  std::uintptr_t* sp = reinterpret_cast<std::uintptr_t*>(top) - 8;
  std::memset(sp, 0, 8 * sizeof *sp);
  sp[6] = reinterpret_cast<std::uintptr_t>(entry);
  return sp;
}
inline std::uint64_t saved_frame_pointer(const void* sp) { return static_cast<const std::uint64_t*>(sp)[5]; }

inline std::uint64_t return_address(std::uint64_t stored) { return stored; }

inline void pause() { __builtin_ia32_pause(); }
inline long worker_distance() { return 0; }
inline void begin_module(void*) {}

inline std::uint64_t pc_of(const ucontext_t* u) { return static_cast<std::uint64_t>(u->uc_mcontext.gregs[REG_RIP]); }
inline std::uint64_t sp_of(const ucontext_t* u) { return static_cast<std::uint64_t>(u->uc_mcontext.gregs[REG_RSP]); }
inline std::uint64_t frame_pointer_of(const ucontext_t* u) { return static_cast<std::uint64_t>(u->uc_mcontext.gregs[REG_RBP]); }

template <class F>
std::uint64_t caller_of(const ucontext_t* u, F readable) {
  return readable(sp_of(u)) ? *reinterpret_cast<const std::uint64_t*>(sp_of(u)) : 0;
}

inline bool writes(const ucontext_t* u) { return u->uc_mcontext.gregs[REG_ERR] & 2; }

inline void leave(ucontext_t* u, void* sp) {
  greg_t* r = u->uc_mcontext.gregs;
  r[REG_RIP] = reinterpret_cast<greg_t>(&emu_resume);
  r[REG_RDI] = reinterpret_cast<greg_t>(sp);
  r[REG_EFL] &= ~static_cast<greg_t>(kDirectionFlag);
}

inline void preempt(ucontext_t* u) {
  greg_t* r = u->uc_mcontext.gregs;
  std::uint64_t* sp = reinterpret_cast<std::uint64_t*>(r[REG_RSP] - 128) - 1;  // below the red zone
  *sp = static_cast<std::uint64_t>(r[REG_RIP]);
  r[REG_RSP] = reinterpret_cast<greg_t>(sp);
  r[REG_RIP] = reinterpret_cast<greg_t>(&emu_preempted);
}

inline void step() { __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | kTrapFlag); }
inline bool stepping(const ucontext_t* u) { return u->uc_mcontext.gregs[REG_EFL] & kTrapFlag; }
inline void set_stepping(ucontext_t* u, bool on) {
  if (on) u->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  else u->uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
}

// trap_of tells a step from a breakpoint by the trap flag: the signal's code is TRAP_TRACE after a step, but a virtual machine that loses the
// processor's reason for the trap makes it TRAP_BRKPT.
inline Trap trap_of(const ucontext_t* u) { return stepping(u) ? Trap::kStep : Trap::kNone; }
inline void go_back(ucontext_t*) {}

}  // namespace emu::machine

#endif
