#pragma once
#if defined(__aarch64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/ucontext.h>

#include <cstddef>
#include <cstring>

#include "block.h"

extern "C" {
void emu_preempted_end();
void emu_own_shared();
}

namespace emu::machine {

constexpr bool kSteps = false;

// Saved is the state that preempted code finds again, on its stack. It begins with a frame, so that the frames of emu_preempt lead to the interrupted
// instruction. emu_preempted stores and loads the vector registers; the others are those of the signal's context.
struct Saved {
  std::uint64_t frame[2];
  alignas(16) unsigned __int128 vectors[32];
  std::uint64_t fp_status, fp_control;
  std::uint64_t registers[31], sp, pc, state;
};
static_assert(sizeof(Saved) == 816 && offsetof(Saved, vectors) == 16 && offsetof(Saved, fp_status) == 528);
constexpr std::size_t kPreemptRoom = 2048 + sizeof(Saved);

inline void adopt(Worker*) {}  // kernels read current_executor

// As emu_switch leaves it: a frame, whose return address is where to continue, and 18 registers.
inline void* prepare(std::uintptr_t top, void (*entry)()) {
  std::uintptr_t* sp = reinterpret_cast<std::uintptr_t*>(top) - 20;
  std::memset(sp, 0, 20 * sizeof *sp);
  sp[1] = reinterpret_cast<std::uintptr_t>(entry);
  return sp;
}
inline std::uint64_t saved_frame_pointer(const void* sp) { return *static_cast<const std::uint64_t*>(sp); }

inline std::uint64_t return_address(std::uint64_t stored) { return stored & ((1ull << 48) - 1); }

inline void pause() { asm volatile("isb"); }

// worker_distance returns the distance of current_executor from the thread pointer, the same in all threads.
inline long worker_distance() { return reinterpret_cast<long>(&current_executor) - reinterpret_cast<long>(__builtin_thread_pointer()); }

// begin_module tells a module worker_distance, and writes the TLS descriptors of shared memory.
inline void begin_module(void* library) {
  if (void* begin = dlsym(library, "emu_module_begin")) reinterpret_cast<void (*)(long)>(begin)(worker_distance());
  link_map* map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
  std::uint64_t table[DT_NUM] = {};
  for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; d++)
    if (d->d_tag < DT_NUM) table[d->d_tag] = d->d_un.d_val;
  const auto at = [&](int tag) { return table[tag] && table[tag] < map->l_addr ? table[tag] + map->l_addr : table[tag]; };
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(at(DT_SYMTAB));
  const auto describe = [&](std::uint64_t list, std::uint64_t bytes) {
    const auto* r = reinterpret_cast<const ElfW(Rela)*>(list);
    for (const auto* end = r + bytes / sizeof *r; r != end; r++) {
      if (ELF64_R_TYPE(r->r_info) != R_AARCH64_TLSDESC) continue;
      auto* descriptor = reinterpret_cast<std::uint64_t*>(map->l_addr + r->r_offset);
      descriptor[1] = symbols[ELF64_R_SYM(r->r_info)].st_value + static_cast<std::uint64_t>(r->r_addend);
      descriptor[0] = reinterpret_cast<std::uint64_t>(&emu_own_shared);
    }
  };
  describe(at(DT_RELA), table[DT_RELASZ]);
  describe(at(DT_JMPREL), table[DT_PLTRELSZ]);
}

inline std::uint64_t pc_of(const ucontext_t* u) { return u->uc_mcontext.pc; }
inline std::uint64_t sp_of(const ucontext_t* u) { return u->uc_mcontext.sp; }
inline std::uint64_t frame_pointer_of(const ucontext_t* u) { return u->uc_mcontext.regs[29]; }

template <class F>
std::uint64_t caller_of(const ucontext_t* u, F) {
  return return_address(u->uc_mcontext.regs[30]);
}

// writes decodes the instruction: "C4.1 A64 instruction set encoding" of the Arm Architecture Reference Manual, the group of loads and stores.
inline bool writes(const ucontext_t* u) {
  const std::uint32_t i = *reinterpret_cast<const std::uint32_t*>(u->uc_mcontext.pc);
  const bool load = i >> 22 & 1;
  if ((i & 0xffffffe0) == 0xd50b7420) return true;   // dc zva, by which memset clears memory
  if ((i & 0x0a000000) != 0x08000000) return false;  // no load or store
  switch (i >> 28 & 3) {
    case 0:  // exclusive and ordered ones, compare-and-swap; structures of vectors
      return !load || (i & 0x3f207c00) == 0x08207c00;
    case 1:  // relative to the instruction, which are loads; and of later processors
      return (i & 0x3b000000) == 0x19000000 && (i >> 22 & 3) == 0;
    case 2:  // pairs
      return !load;
    default:
      if ((i & 0x3b200c00) == 0x38200000) return (i & 0x3ffffc00) != 0x38bfc000;  // atomic operations, of which ldapr only loads
      return i >> 26 & 1 ? !load : (i >> 22 & 3) == 0;
  }
}

inline void leave(ucontext_t* u, void* sp) {
  u->uc_mcontext.pc = reinterpret_cast<std::uint64_t>(&emu_resume);
  u->uc_mcontext.regs[0] = reinterpret_cast<std::uint64_t>(sp);
}

// A branch needs a register, and all of them are the kernel's. So emu_preempted ends by a trap, whose handler restores them.
inline void preempt(ucontext_t* u) {
  auto& m = u->uc_mcontext;
  auto* s = reinterpret_cast<Saved*>((m.sp - sizeof(Saved)) & ~15ull);
  s->frame[0] = m.regs[29], s->frame[1] = m.pc + 1;  // a frame has the instruction after a call
  std::memcpy(s->registers, m.regs, sizeof s->registers);
  s->sp = m.sp, s->pc = m.pc, s->state = m.pstate;
  m.sp = m.regs[29] = reinterpret_cast<std::uint64_t>(s);
  m.pc = reinterpret_cast<std::uint64_t>(&emu_preempted);
}

inline void go_back(ucontext_t* u) {
  auto& m = u->uc_mcontext;
  const auto* s = reinterpret_cast<const Saved*>(m.sp);
  std::memcpy(m.regs, s->registers, sizeof s->registers);
  m.pc = s->pc, m.pstate = s->state, m.sp = s->sp;
}

// trap_of reads the number of a brk instruction: g++ has 1000 for undefined behaviour, clang++ 1, or 0x5500 and the kind of a check, which is 3
// for a division.
inline Trap trap_of(const ucontext_t* u) {
  if (u->uc_mcontext.pc == reinterpret_cast<std::uint64_t>(&emu_preempted_end)) return Trap::kEnd;
  const std::uint32_t i = *reinterpret_cast<const std::uint32_t*>(u->uc_mcontext.pc);
  if ((i & 0xffe0001f) != 0xd4200000) return Trap::kNone;
  const unsigned number = i >> 5 & 0xffff;
  if (number == 0x5503) return Trap::kDivision;
  return number == 1000 || number == 1 || number >> 8 == 0x55 ? Trap::kUndefined : Trap::kNone;
}

inline void step() {}
inline bool stepping(const ucontext_t*) { return false; }
inline void set_stepping(ucontext_t*, bool) {}

}  // namespace emu::machine

#endif
