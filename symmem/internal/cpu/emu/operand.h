// operand.h: the memory operand of an instruction, for single steps. Only x86-64 has steps that a program may take by itself.
#pragma once

#include <sys/ucontext.h>

#include <cstdint>

namespace emu {

struct Operand {
  bool reads = false, writes = false;
  std::uint64_t address = 0;
};

#if defined(__x86_64__)
// operand_of decodes the next instruction. It returns no operand for instructions that it does not
// know.
Operand operand_of(const ucontext_t*);
#else
inline Operand operand_of(const ucontext_t*) { return {}; }
#endif

}  // namespace emu
