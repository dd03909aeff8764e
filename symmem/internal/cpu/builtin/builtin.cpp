// What the operations' files register: their kernels, and the declarations that Go repeats.
#include "cuda_on_cpu.h"
#include "layout.h"

extern "C" {
const void* symm_builtin_entries(void) { return emu::entries; }
const void* symm_builtin_tables(void) { return layout::tables; }
}
