// memory.h: device memory in separate mappings between guard pages.
#pragma once

#include <cstddef>

namespace emu {

// guard makes pages inaccessible. If that would divide a mapping, of which a process can have only
// 65530, the number of guard pages is limited. It returns how many pages count towards the limit,
// for unguard.
int guard(void* pages, std::size_t bytes);
// unguard records that so many counted pages were unmapped.
void unguard(int counted);

}  // namespace emu
