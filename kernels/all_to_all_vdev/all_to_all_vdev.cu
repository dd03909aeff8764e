// all_to_all_vdev: splits in device memory name the ranks that rows go to (rows.cuh), within a
// host. One launch does everything: every block receives the splits of all ranks as packets,
// computes where its rows go, stores its share of this rank's rows directly into their places, and
// meets the blocks with the same index on all ranks before it ends. The packets replace a barrier
// at the beginning: a rank that has received the splits of another rank may write into the other's
// out.
#include "all_to_all_vdev/rows.cuh"
#include "packets/packets.cuh"

struct AllToAllVdevArgs {
  symm::PacketArgs head;              // n: splits; context.channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  symm::RowsArgs rows;
};
SYMM_LAYOUT(AllToAllVdevArgs, head, signals, rows)
static_assert(symm::rows::kSplits <= symm::kThreads, "a packet each, of one thread");

// exchange sends a value and a mark to all ranks by the packets of this thread's slot, and calls
// f(p, value, mark) with the value and mark of each rank p, in the order of the ranks. It returns
// false if a wait gave up.
template <class F>
__device__ __forceinline__ bool exchange(const symm::PacketArgs& a, symm::u32 epoch, symm::u64 value, symm::u32 mark, F f) {
  using namespace symm;
  const int world = a.context.ranks(), me = a.context.rank;
  const Packet own = {{(u32)value, (u32)(value >> 32), mark}, epoch};
  for (int k = 1; k < world; k++) store_packet(inbox(a, neighbour(a.context, k), me, epoch), own);
  for (int first = 0; first < world; first += kTogether) {
    Packet q[kTogether];
    if (!receive(q, a, first, epoch)) return false;
#ifdef SYMM_CPU
    // No fence is needed on a GPU either: accesses that depend on a packet do not overtake it, and
    // the earlier kernels of its sender are over.
    symm_cpu_fenced(2);
#endif
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p >= world) break;
      const Packet& packet = p == me ? own : q[j];
      f((u32)p, packet.data[0] | (u64)packet.data[1] << 32, packet.data[2]);
    }
  }
  return true;
}

// Swap exchanges splits for rows::make_plan.
struct Swap {
  const symm::PacketArgs& a;
  symm::u32 epoch;
  template <class F>
  __device__ __forceinline__ bool operator()(bool mine, symm::u32, symm::u64 value, symm::u32 mark, F f) const {
    return !mine || exchange(a, epoch, value, mark, f);
  }
};

extern "C" __global__ void __launch_bounds__(symm::kThreads) all_to_all_vdev(const __grid_constant__ AllToAllVdevArgs a) {
  using namespace symm;
  begin();
  __shared__ rows::Plan plan;
  const Context& c = a.head.context;
  u32 epoch = a.head.epochs[blockIdx.x] + 1;
  rows::Verdict verdict = {};
  bool ok = rows::make_plan(c, a.rows, plan, verdict, Swap{a.head, epoch});
  const bool refused = __syncthreads_or(verdict.what), asked = __syncthreads_or(verdict.what && verdict.what != kNoRoom);
  if (ok && refused && blockIdx.x == 0) {
    u64 count = a.rows.out_rows;
    // Only the rank itself knows how many rows its input has, so the ranks exchange these numbers
    // in another epoch.
    if (asked && threadIdx.x < a.rows.n)
      ok = exchange(a.head, epoch + 1, a.rows.in_rows, 0, [&](u32 p, u64 v, u32) {
        if (verdict.what != kNoRoom && verdict.rank == p) count = v;
      });
    epoch += asked;
    if ((ok = __syncthreads_and(ok))) rows::report(c, verdict, count);
  }
  if (threadIdx.x == 0) a.head.epochs[blockIdx.x] = epoch;
  if (!ok) return;
  if (!refused) {
    if (blockIdx.x == 0) rows::write_offsets(c, a.rows, plan);
    rows::move(c, a.rows, plan);
  }
  barrier(a.signals, c, blockIdx.x);
}
SYMM_KERNEL(all_to_all_vdev)
