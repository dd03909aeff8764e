// hosts_rows: splits in device memory name the ranks that rows go to (all_to_all_vdev/rows.cuh), in
// a group that spans hosts.
//
// Every block does this by itself, in the slot of the pipes that has its index:
//
//	splits  the chunk with this rank's splits goes to all members on other hosts; members on this host
//	        read it in the outbox. A rank that has another rank's splits may write into the other's
//	        out.
//	rows    rows for other hosts go by puts, one for each split, directly from the input into their
//	        places; rows for this host by stores
//	used    after its puts to a sender, this rank signals that it has used the sender's splits: its
//	        rows are then in place there
//
// A block ends when all ranks have sent this signal, the blocks with its index on this host have
// met, and the puts of this rank no longer need the input.
//
// The host announces the number of operations that a launch posts without knowing the splits.
// Therefore a block posts one operation for every split, even for an empty one.
#include "all_to_all_vdev/rows.cuh"
#include "hosts/pipes.cuh"
#include "symm/remote.cuh"

struct HostsRowsArgs {
  symm::PipeArgs pipes;               // all members, each with the place of its rank
  symm::RowsArgs rows;
  symm::u32 window;                   // ID of the window of out
};
SYMM_LAYOUT(HostsRowsArgs, pipes, rows, window)

// Said is the message of a rank in a chunk: the number of rows of its input, then a value for each
// split, then a mark for each split.
struct Said {
  symm::u64* at;
  symm::u64 n;
  __device__ __forceinline__ symm::u64& rows() const { return at[0]; }
  __device__ __forceinline__ symm::u64& value(symm::u32 i) const { return at[1 + i]; }
  __device__ __forceinline__ symm::u32& mark(symm::u32 i) const { return ((symm::u32*)(at + 1 + n))[i]; }
  __device__ __forceinline__ symm::u64 bytes() const { return 8 + 12 * n; }
};

// said_in returns the message to this block in the box of a rank.
__device__ __forceinline__ Said said_in(const HostsRowsArgs& a, const void* box, symm::u32 rank) {
  return Said{(symm::u64*)slot_at(a.pipes, box, rank, blockIdx.x), a.rows.n};
}

// for_said calls f(p, said) with the message of each rank p, in the order of the ranks.
template <class F>
__device__ __forceinline__ void for_said(const HostsRowsArgs& a, F f) {
  using namespace symm;
  for (u32 p = 0, here = 0; p < (u32)a.pipes.between.ranks(); p++) f(p, said_in(a, a.rows.out[p] ? box_of(a.pipes, here++, a.pipes.outbox) : a.pipes.inbox, p));
}

// Swap exchanges splits for rows::make_plan.
struct Swap {
  const HostsRowsArgs& a;
  const symm::NetGroup& g;
  template <class F>
  __device__ bool operator()(bool mine, symm::u32 i, symm::u64 value, symm::u32 mark, F f) const {
    using namespace symm;
    const PipeArgs& p = a.pipes;
    const u64 k = blockIdx.x;
    if (!slot_free(p, g, k)) return false;
    const Said own = said_in(a, p.outbox, (u32)p.between.rank);
    if (mine) own.value(i) = value, own.mark(i) = mark;
    if (threadIdx.x == 0) own.rows() = a.rows.in_rows;
    if (!send(p, g, k, [&](u32) { return own.bytes(); }) || !meet_inside(p, g) || !chunks_came(p, g, k)) return false;
    if (mine) for_said(a, [&](u32 r, Said said) { f(r, said.value(i), said.mark(i)); });
    return true;
  }
};

// put_rows posts the block's puts to other hosts. If the splits are refused, all its operations are
// empty. It returns false if it gave up.
__device__ inline bool put_rows(const HostsRowsArgs& a, const symm::NetGroup& g, const symm::rows::Plan& plan, bool refused) {
  using namespace symm;
  const u32 n = (u32)a.rows.n, experts = n / (u32)a.pipes.between.ranks();
  bool ok = true;
  for (u32 i = threadIdx.x; ok && i < n; i += blockDim.x) {
    const u32 dst = i / experts;
    if (a.rows.out[dst] || i % gridDim.x != blockIdx.x) continue;
    fence();
    NetOp op = {};
    op.kind = kNetGet;  // an empty get, which completes at once
    op.peer = g.members[dst].rank;
    if (const u64 bytes = refused ? 0 : (plan.start[i + 1] - plan.start[i]) * a.rows.row) {
      op.kind = kNetPut;
      op.local = (u64)a.rows.in + plan.from[i] * a.rows.row;
      op.window = a.window;
      op.offset = plan.to[i];
      op.bytes = bytes;
    }
    ok = post(g.port, a.pipes.between, dst, op, nullptr);
  }
  return __syncthreads_and(ok);
}

extern "C" __global__ void __launch_bounds__(symm::rows::kSplits) hosts_rows(const __grid_constant__ HostsRowsArgs a) {
  using namespace symm;
  begin();
  __shared__ rows::Plan plan;
  const NetGroup g = *a.pipes.net;
  const Context& c = a.pipes.between;
  const u64 k = blockIdx.x;
  rows::Verdict verdict = {};
  if (!rows::make_plan(c, a.rows, plan, verdict, Swap{a, g})) return;
  const bool refused = __syncthreads_or(verdict.what);
  if (refused && blockIdx.x == 0) {
    u64 count = a.rows.out_rows;
    if (verdict.what && verdict.what != kNoRoom)
      for_said(a, [&](u32 p, Said said) { if (p == verdict.rank) count = said.rows(); });
    rows::report(c, verdict, count);
  }
  if (!refused && blockIdx.x == 0) rows::write_offsets(c, a.rows, plan);
  if (!put_rows(a, g, plan, refused)) return;
  if (!refused) rows::move(c, a.rows, plan);
  if (!slot_used(a.pipes, g, k, true) || !meet_inside(a.pipes, g) || !slot_free(a.pipes, g, k, kNetRows)) return;
  if (threadIdx.x == 0) wait_posted(g, c);
}
SYMM_KERNEL(hosts_rows)
