// all_to_all_vdev: rows go to the ranks that splits in device memory name (rows.cuh), within a host. One launch does it all: every block
// receives everybody's splits as packets, computes where its rows go, stores its share of this rank's rows straight into their places,
// and meets the blocks of the same index of all ranks before it ends. The packets replace a barrier at the beginning: a rank that
// has another's splits may write into that rank's out.
#include "all_to_all_vdev/rows.cuh"
#include "packets/packets.cuh"

struct AllToAllVdevArgs {
  symm::PacketArgs head;              // n: splits; context.channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  symm::RowsArgs rows;
};
SYMM_LAYOUT(AllToAllVdevArgs, head, signals, rows)
static_assert(symm::rows::kSplits <= symm::kThreads, "a packet each, of one thread");

// exchange sends a value and a mark to all ranks by the packets of this thread's slot, and calls f(p, value, mark) with what each
// rank p has sent, in the order of the ranks. False if a wait gave up.
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
    symm_cpu_fenced(2);  // what depends on a packet does not overtake it, and its sender's earlier kernels are over: on a GPU too there is an order, without a fence
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
    // Only its rank knows how many rows an input has: the ranks exchange theirs in another epoch.
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
