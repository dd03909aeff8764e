// memory.h: device memory in separate mappings between guard pages.
#pragma once

#include <cstddef>

namespace emu {

// page_size returns the size of a page: 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64.
std::size_t page_size();

// guard makes pages inaccessible. If that would divide a mapping, of which a process can have only
// 65530, the number of guard pages is limited. It returns how many pages count towards the limit,
// for unguard.
int guard(void* pages, std::size_t bytes);
// unguard records that so many counted pages were unmapped.
void unguard(int counted);

}  // namespace emu
