// delay: wait for a number of nanoseconds, so that later work of the stream begins later. The wait
// ends early if the host raises the abort bit. One thread.
#include "symm.cuh"

struct DelayArgs {
  symm::Context context;
  symm::u64 ns;
};
SYMM_LAYOUT(DelayArgs, context, ns)

extern "C" __global__ void delay(const __grid_constant__ DelayArgs a) {
  symm::begin();
  const symm::u64 start = symm::now_ns();
  for (symm::u32 spins = 1; symm::now_ns() - start < a.ns; spins++) {
    // The abort word lies in the host's memory: to read it takes about a microsecond.
    if (spins % 1024 == 0 && symm::load_relaxed(&a.context.watch->abort) & symm::kAbort) return;
#ifdef SYMM_CPU
    symm_cpu_yield();
#endif
  }
}
SYMM_KERNEL(delay)
