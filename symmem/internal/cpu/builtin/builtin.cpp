// What the operations' files register: their kernels, and the declarations that Go repeats.
#include "cuda_on_cpu.h"
#include "layout.h"

extern "C" {
#if defined(__aarch64__)
// emu_worker is the distance that kernels read: see emu_machine.h.
__attribute__((visibility("hidden"))) long emu_worker;
#endif
// symm_builtin_entries returns the list of kernels. worker is what emu_worker has to be.
const void* symm_builtin_entries([[maybe_unused]] long worker) {
#if defined(__aarch64__)
  emu_worker = worker;
#endif
  return emu::entries;
}
const void* symm_builtin_tables(void) { return layout::tables; }
}
