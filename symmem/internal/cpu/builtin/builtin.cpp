// All operations in one translation unit. The kernels are extern "C"; operations.h gives their helpers a namespace for each file.
#include "cuda_on_cpu.h"
#include "layout.h"

#include "operations.h"

extern "C" {
const void* symm_builtin_entries(void) { return emu::entries; }
const void* symm_builtin_tables(void) { return layout::tables; }
}
