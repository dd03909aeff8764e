// pool_meet: all ranks meet at a take or a free of the group's memory pool and compare their calls.
// One block of at least as many threads as ranks. Two sets of words are used in turn: a rank writes
// a set again only after all ranks have arrived at the step between, and so have read the set.
#include "symm.cuh"

constexpr symm::u32 kStep = 20;  // the reason for a refusal
SYMM_VALUES(Pool, kStep)

struct PoolMeetArgs {
  symm::Context context;  // channels: of signals
  symm::Signals signals;  // a block of its own, not the one of Handle.barrier
  symm::u64* words[symm::kMaxRanks];  // of each rank: its words for this step, one for each sender
  symm::u64 step;                     // the call of this rank
};
SYMM_LAYOUT(PoolMeetArgs, context, signals, words, step)

extern "C" __global__ void pool_meet(const __grid_constant__ PoolMeetArgs a) {
  using namespace symm;
  begin();
  const int peer = (int)threadIdx.x, mine = a.context.rank;
  if (peer < a.context.ranks()) store_relaxed(a.words[peer] + mine, a.step);
  if (!barrier(a.signals, a.context, 0)) return;
  if (peer >= a.context.ranks()) return;
  const u64 theirs = load_relaxed(a.words[mine] + peer);
  if (theirs != a.step) refuse(a.context, kStep, (u32)peer, 0, theirs, a.step);
}
SYMM_KERNEL(pool_meet)
