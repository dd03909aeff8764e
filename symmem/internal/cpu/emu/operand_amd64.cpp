// The memory operands of x86-64's instructions.
#if defined(__x86_64__)

#include "operand.h"

#include <cstring>

namespace emu {

namespace {

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

}  // namespace

Operand operand_of(const ucontext_t* u) {
  const greg_t* r = u->uc_mcontext.gregs;
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

}  // namespace emu

#endif
