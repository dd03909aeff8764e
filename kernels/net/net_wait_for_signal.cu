// net_wait_for_signal: wait until a 64-bit word of this rank equals a value, or is not below it, in
// a group that spans hosts. Any rank may set the word, so the wait ends when any member on another
// host is gone. The word keeps its value. One thread.
#include "net/args.cuh"

extern "C" __global__ void net_wait_for_signal(const __grid_constant__ symm::NetWaitArgs a) {
  symm::begin();
  symm::net_wait<symm::u64>(a.group, a.context, a.word, a.value, a.at_least ? symm::kAtLeast : symm::kEqual, symm::kAnyFarMember,
                            symm::Wait{symm::kWord, (symm::u32)a.context.rank, a.index, a.value});
}
SYMM_KERNEL(net_wait_for_signal)
