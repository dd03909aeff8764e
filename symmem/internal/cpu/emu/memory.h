// memory.h: device memory in mappings of its own, between pages that nobody may touch.
//
// A kernel that leaves its memory faults there, and does not reach the heap of the process.
#pragma once

#include <cstddef>

namespace emu {

// guard makes pages such as nobody may touch. As long as that cannot be done without dividing a mapping, of which a process has 65530, only
// a part of all that are asked for are; it returns how many of its pages count towards that, for unguard.
int guard(void* pages, std::size_t bytes);
// unguard says that so many of these pages were unmapped.
void unguard(int counted);

}  // namespace emu
