// all_to_all_vdev: splits in device memory name the ranks that rows go to (rows.cuh), within a
// host. One launch does everything: every block receives the splits of all ranks as packets and
// computes where rows go. Few rows travel as packets too (row_packets.cuh). Otherwise the block
// stores its share of this rank's rows directly into their places, and meets the blocks with the
// same index on all ranks before it ends. The packets replace a barrier at the beginning: a rank
// that has received the splits of another rank may write into the other's out.
#include "all_to_all_vdev/row_packets.cuh"

struct AllToAllVdevArgs {
  symm::PacketArgs head;              // n: splits; context.channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  symm::RowsArgs rows;
  symm::u64 room;                     // bytes that may travel as packets from rank to rank; 0: none
};
SYMM_LAYOUT(AllToAllVdevArgs, head, signals, rows, room)
static_assert(symm::rows::kSplits <= symm::kThreads, "a packet each, of one thread");

// Message is a value and a mark that a rank sends for a split.
struct Message {
  symm::u64 value;
  symm::u32 mark;
};

// tell sends a message to all other ranks, in the packets of this thread's slot.
__device__ __forceinline__ void tell(const symm::PacketArgs& a, symm::u32 epoch, Message m) {
  using namespace symm;
  for (int k = 1; k < a.context.ranks(); k++)
    store_packet(inbox(a, neighbour(a.context, k), a.context.rank, epoch), Packet{{(u32)m.value, (u32)(m.value >> 32), m.mark}, epoch});
}

// hear calls f(p, message) with the message in this thread's slot of each rank p, in the order of
// the ranks; own is the message of this rank. It returns false if a wait gave up.
template <class F>
__device__ __forceinline__ bool hear(const symm::PacketArgs& a, symm::u32 epoch, Message own, F f) {
  using namespace symm;
  for (int first = 0; first < a.context.ranks(); first += kTogether) {
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
      if (p >= a.context.ranks()) break;
      const u32* const data = q[j].data;
      f((u32)p, p == a.context.rank ? own : Message{data[0] | (u64)data[1] << 32, data[2]});
    }
  }
  return true;
}

// Swap exchanges splits for rows::make_plan, and sends the rows that may travel as packets. It sets
// fits if the rows of all splits that this thread receives fit.
struct Swap {
  const AllToAllVdevArgs& a;
  const symm::rows::Plan& plan;
  symm::u32 epoch;
  bool& fits;
  template <class F>
  __device__ __forceinline__ bool operator()(bool mine, symm::u32, symm::u64 value, symm::u32 mark, F f) const {
    using namespace symm;
    const bool refused = __syncthreads_or(mark);
    const u32 experts = (u32)a.rows.n / (u32)a.head.context.ranks(), first = threadIdx.x / experts * experts;
    if (mine && a.room && rows::fit(rows::Parcel(a.rows, plan, first, first + experts), a.room)) mark |= rows::kFits;
    const Message own = {value, mark};
    if (mine) tell(a.head, epoch, own);
    if (a.room && !refused) rows::send_rows(a.head, a.rows, plan, a.room, epoch);
    return !mine || hear(a.head, epoch, own, [&](u32 p, Message m) {
      fits = fits && (m.mark & rows::kFits);
      f(p, m.value, m.mark & ~rows::kFits);
    });
  }
};

extern "C" __global__ void __launch_bounds__(symm::kThreads) all_to_all_vdev(const __grid_constant__ AllToAllVdevArgs a) {
  using namespace symm;
  begin();
  __shared__ rows::Plan plan;
  const Context& c = a.head.context;
  u32 epoch = a.head.epochs[blockIdx.x] + 1;
  rows::Verdict verdict = {};
  bool fits = true;
  bool ok = rows::make_plan(c, a.rows, plan, verdict, Swap{a, plan, epoch, fits});
  const bool refused = __syncthreads_or(verdict.what), packets = !refused && __syncthreads_and(fits);
  u32 next = epoch;
  if (ok && refused && blockIdx.x == 0) {
    const bool asked = __syncthreads_or(verdict.what && verdict.what != kNoRoom);
    u64 count = a.rows.out_rows;
    // Only the rank itself knows how many rows its input has, so the ranks exchange these numbers
    // in another epoch.
    if (asked && threadIdx.x < a.rows.n) {
      const Message own = {a.rows.in_rows, 0};
      tell(a.head, epoch + 1, own);
      ok = hear(a.head, epoch + 1, own, [&](u32 p, Message m) {
        if (verdict.what != kNoRoom && verdict.rank == p) count = m.value;
      });
    }
    next += asked;
    if ((ok = __syncthreads_and(ok))) rows::report(c, verdict, count);
  }
  if (threadIdx.x == 0) a.head.epochs[blockIdx.x] = next;
  if (!ok) return;
  if (packets) {
    rows::plan_received(c, a.rows, plan);
    rows::receive_rows(a.head, a.rows, plan, epoch);
    return;
  }
  if (!refused) {
    if (blockIdx.x == 0) rows::write_offsets(c, a.rows, plan);
    rows::move(c, a.rows, plan);
  }
  barrier(a.signals, c, blockIdx.x);
}
SYMM_KERNEL(all_to_all_vdev)
