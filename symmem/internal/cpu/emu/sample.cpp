#include "sample.h"

#include <ucontext.h>

#include <cstring>

#include "block.h"
#include "grid.h"

namespace emu {

namespace {

constexpr int kSteps = 600;
constexpr int kPasses = 4;  // from a poll to the next

// Operand is the memory operand of an instruction.
struct Operand {
  bool reads = false, writes = false;
  std::uint64_t address = 0;
};

// register_of returns the value of a general register by its number in an instruction.
std::uint64_t register_of(const greg_t* r, unsigned number) {
  constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<std::uint64_t>(r[kOrder[number]]);
}

// Effect is the effect of an opcode on its memory operand. An exchange and a compare-and-exchange
// are used for polling, and count as reads.
enum class Effect { kNone, kRead, kWrite, kAdd };

Effect effect_of(std::uint8_t op, std::uint8_t modrm) {
  const unsigned digit = modrm >> 3 & 7;
  if (op < 0x40) return (op & 7) > 3 ? Effect::kNone : (op & 7) > 1 || op >= 0x38 ? Effect::kRead : Effect::kWrite;
  switch (op) {
    case 0x63: case 0x69: case 0x6b: case 0x84: case 0x85: case 0x86: case 0x87: case 0x8a: case 0x8b: return Effect::kRead;
    case 0x80: case 0x81: case 0x83: return digit == 7 ? Effect::kRead : Effect::kWrite;
    case 0x88: case 0x89: case 0xc0: case 0xc1: case 0xc6: case 0xc7: case 0xd0: case 0xd1: case 0xd2: case 0xd3: return Effect::kWrite;
    case 0xf6: case 0xf7: return digit == 2 || digit == 3 ? Effect::kWrite : Effect::kRead;
    case 0xfe: case 0xff: return digit < 2 ? Effect::kWrite : Effect::kNone;
  }
  return Effect::kNone;
}

// The opcodes after 0F.
Effect effect_of_0f(std::uint8_t op, bool f3) {
  switch (op) {
    case 0x10: case 0x12: case 0x16: case 0x28: case 0x2e: case 0x2f: case 0x6e: case 0x6f: case 0xa3: case 0xaf: case 0xb0: case 0xb1: case 0xb6: case 0xb7:
    case 0xbe: case 0xbf: case 0xc7: return Effect::kRead;
    case 0x7e: return f3 ? Effect::kRead : Effect::kWrite;
    case 0x11: case 0x13: case 0x17: case 0x29: case 0x2b: case 0x7f: case 0xc3: case 0xd6: case 0xe7: return Effect::kWrite;
    case 0xc0: case 0xc1: return Effect::kAdd;
  }
  if (op >> 4 == 4 || op >> 4 == 5) return Effect::kRead;
  return op >> 4 == 9 ? Effect::kWrite : Effect::kNone;
}

// operand_of decodes the next instruction. It returns no operand for instructions that it does not
// know.
Operand operand_of(const greg_t* r) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(r[REG_RIP]);
  unsigned rex = 0;
  bool f3 = false;
  for (;; p++) {
    // memory of the system and the emulator, or short addresses
    if (*p == 0x64 || *p == 0x65 || *p == 0x67) return {};
    if (*p == 0xf3) f3 = true;
    if (*p != 0x66 && *p != 0xf0 && *p != 0xf2 && *p != 0xf3 && *p != 0x2e && *p != 0x3e) break;
  }
  if (*p >> 4 == 4) rex = *p++;
  const bool two = *p == 0x0f;
  const std::uint8_t op = two ? *++p : *p;
  const std::uint8_t modrm = *++p;
  Effect effect = two ? effect_of_0f(op, f3) : effect_of(op, modrm);
  const unsigned mod = modrm >> 6, rm = modrm & 7;
  // memory next to the instructions belongs to the kernel's file
  if (effect == Effect::kNone || mod == 3 || (mod == 0 && rm == 5)) return {};
  if (effect == Effect::kAdd) effect = register_of(r, (modrm >> 3 & 7) | (rex << 1 & 8)) == 0 ? Effect::kRead : Effect::kWrite;
  std::uint64_t address = 0;
  p++;
  bool base = true;
  if (rm == 4) {
    const std::uint8_t sib = *p++;
    const unsigned index = (sib >> 3 & 7) | (rex << 2 & 8);
    if (index != 4) address += register_of(r, index) << (sib >> 6);
    base = !(mod == 0 && (sib & 7) == 5);
    if (base) address += register_of(r, (sib & 7) | (rex << 3 & 8));
  } else {
    address += register_of(r, rm | (rex << 3 & 8));
  }
  std::int8_t near;
  std::int32_t far;
  if (mod == 1) {
    std::memcpy(&near, p, sizeof near);
    address += static_cast<std::uint64_t>(static_cast<std::int64_t>(near));
  } else if (mod == 2 || !base) {
    std::memcpy(&far, p, sizeof far);
    address += static_cast<std::uint64_t>(static_cast<std::int64_t>(far));
  }
  return {effect == Effect::kRead, effect == Effect::kWrite, address};
}

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

// end evaluates the sample's accesses. A thread that writes, or reads new addresses, makes
// progress.
void end(Executor* e) {
  Sample& s = e->sample;
  const bool full = s.noted == Sample::kAccesses;  // a long loop, not fully recorded
  s.spins = !full;
  for (int i = 0; i < s.noted; i++) {
    const Sample::Access& a = s.accesses[i];
    if (a.times < 2) continue;
    if (a.moves || a.changes) s.spins = false;
    const bool shared = e->shared_memory.contains(a.address);
    const std::uint64_t address = shared ? a.address - reinterpret_cast<std::uintptr_t>(e->shared) : a.address;
    bool known = s.count == Sample::kAddresses;
    for (int k = 0; k < s.count; k++) known |= s.addresses[k] == address && s.shared[k] == shared;
    if (!known) s.addresses[s.count] = address, s.shared[s.count++] = shared;
  }
  s.spins = s.spins && s.count > 0;
  s.state.store(Sample::kTaken, std::memory_order_release);
}

void begin(Executor* e) {
  Sample& s = e->sample;
  const Grid* g = e->launch();
  s.began = g->began;
  std::strncpy(s.kernel, g->entry->name, sizeof s.kernel - 1);
  std::strncpy(s.library, g->library, sizeof s.library - 1);
  s.pc = 0;
  s.threads = e->plain ? e->count - e->thread->linear : e->alive - e->arrived;
  s.spins = false;
  s.thread = e->thread;
  s.count = s.steps = s.passes = s.noted = 0;
  s.state.store(Sample::kStepping, std::memory_order_relaxed);
}

}  // namespace

bool resume_sample(Executor* e) {
  Sample& s = e->sample;
  switch (s.state.load(std::memory_order_relaxed)) {
    case Sample::kWanted:
      begin(e);
      return true;
    case Sample::kStepping:
      if (s.thread != e->thread) return false;
      if (++s.passes < kPasses) return true;
      end(e);
  }
  return false;
}

void on_step(Executor* e, void* context) {
  Sample& s = e->sample;
  greg_t* r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool in_kernel = e->running.load(std::memory_order_relaxed) && !__atomic_load_n(&e->in_runtime, __ATOMIC_RELAXED);
  const bool given_up = s.state.load(std::memory_order_relaxed) != Sample::kStepping;
  const bool over = !given_up && ++s.steps > kSteps;
  if (over) end(e);
  if (!in_kernel || given_up || over) {
    r[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
    return;
  }
  const Code& code = e->launch()->code;
  const auto pc = static_cast<std::uint64_t>(r[REG_RIP]);
  if (!code.contains(pc)) return;
  if (s.pc == 0) s.pc = pc - code.base;
  const Operand o = operand_of(r);
  if ((o.reads || o.writes) && !e->stacks.contains(o.address)) note(s, pc, o);
}

}  // namespace emu
