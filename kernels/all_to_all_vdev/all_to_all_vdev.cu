// all_to_all_vdev: rows go to the ranks that splits in device memory name, and lie there in the order that the splits of all
// ranks determine. One launch does it all: every block receives everybody's splits as packets, computes where its rows go,
// stores its share of this rank's rows straight into their places, and meets the blocks of the same index of all ranks before
// it ends. The packets replace a barrier at the beginning: a rank that has another's splits may write into that rank's out.
//
// Dispatch: splits are ordered by destination, then by expert, and the rows lie packed in that order; out is ordered by expert,
// then by source, with every expert's region padded. Combine: splits are ordered by expert, then by destination, with an offset
// each; out is ordered by source, then by expert, packed. A dispatch with one expert a rank and no padding is the plain exchange
// of rows.
//
// Values are checked before anything is moved. All ranks check the same values and decide alike: either every rank moves its
// rows or every rank refuses.
#include "packets/packets.cuh"

enum Layout : symm::u64 { kDispatch = 0, kCombine = 1 };
SYMM_VALUES(Layout, kDispatch, kCombine)

// What is refused.
enum Refused : symm::u32 { kSplit = 16, kSum = 17, kOffset = 18, kRoom = 19 };
SYMM_VALUES(Refused, kSplit, kSum, kOffset, kRoom)

struct AllToAllVdevArgs {
  symm::PacketArgs head;              // in: the rows; n: splits; op: the layout; context.channels: at least the grid's blocks
  symm::Signals signals;              // a block of its own, not the one of Handle.barrier
  void* out[symm::kMaxRanks];         // by rank
  const symm::i64* splits;
  const symm::i64* offsets;           // of combine
  symm::i64* out_splits;
  symm::i64* out_offsets;
  symm::u64 in_rows, out_rows;
  symm::u64 row;                      // bytes
  symm::u64 align;                    // rows that a region of dispatch is a multiple of; 0: none
};
SYMM_LAYOUT(AllToAllVdevArgs, head, signals, out, splits, offsets, out_splits, out_offsets, in_rows, out_rows, row, align)

constexpr int kSplits = symm::kThreads;  // at most: a packet each, of one thread
SYMM_VALUES(Splits, kSplits)

// Plan says where the rows of each split come from and go to. The splits are in the order of their destinations.
struct Plan {
  symm::u64 start[kSplits + 1];  // rows of the splits before
  symm::u64 from[kSplits];       // row of in
  symm::u64 to[kSplits];         // address of the first row
  symm::u64 a[kSplits + 1], b[kSplits + 1], warps[32];
};

// scan returns the sum of the values of the threads before this one. All threads of the block call it.
__device__ __forceinline__ symm::u64 scan(Plan& plan, symm::u64 value) {
  using namespace symm;
  const int lane = threadIdx.x & 31;
  u64 sum = value;
  for (int d = 1; d < 32; d <<= 1) {
    const u64 other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  __syncthreads();
  if (lane == 31) plan.warps[threadIdx.x >> 5] = sum;
  __syncthreads();
  for (int w = 0; w < (int)(threadIdx.x >> 5); w++) sum += plan.warps[w];
  return sum - value;
}

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

// Verdict is what a thread refuses; what is 0 if it refuses nothing.
struct Verdict {
  symm::u32 what, index, rank;
  symm::i64 value;
};

// check checks this rank's own split i.
__device__ __forceinline__ Verdict check(const AllToAllVdevArgs& a, symm::u32 i, symm::i64 split, symm::u64 sum) {
  const symm::u32 me = (symm::u32)a.head.context.rank;
  const symm::i64 rows = (symm::i64)a.in_rows;
  if (split < 0 || split > rows) return Verdict{kSplit, i, me, split};
  if (a.head.op == kDispatch && i == a.head.n - 1 && sum > a.in_rows) return Verdict{kSum, i, me, (symm::i64)sum};
  if (a.head.op == kCombine && split > 0) {
    const symm::i64 offset = a.offsets[i];
    if (offset < 0 || offset > rows - split) return Verdict{kOffset, i, me, offset};
  }
  return Verdict{};
}

// make_plan exchanges the splits and fills the plan. The block has to meet before it reads the plan. False if a wait gave up;
// verdict is what this thread refuses.
__device__ __forceinline__ bool make_plan(const AllToAllVdevArgs& a, Plan& plan, symm::u32 epoch, Verdict& verdict) {
  using namespace symm;
  const Context& c = a.head.context;
  const u32 n = (u32)a.head.n, world = (u32)c.ranks(), me = (u32)c.rank, experts = n / world, i = threadIdx.x;
  const bool mine = i < n, combine = a.head.op == kCombine;
  const u32 dst = i / experts, expert = i % experts, index = combine ? expert * world + dst : i;

  const i64 split = mine ? a.splits[index] : 0;
  const u64 start = scan(plan, split < 0 || split > (i64)a.in_rows ? 0 : (u64)split);
  if (mine) {
    plan.start[i] = start;
    if (i == n - 1) plan.start[n] = start + (u64)split;
    plan.from[i] = combine ? (u64)a.offsets[index] : start;
    verdict = check(a, index, split, start + (u64)split);
  }

  bool ok = true;
  u64 before = 0, total = 0;
  if (mine) {
    const i64 value = verdict.what ? verdict.value : split;
    ok = exchange(a.head, epoch, (u64)value, verdict.what, [&](u32 p, u64 v, u32 what) {
      if (what && (!verdict.what || p < verdict.rank)) verdict = Verdict{what, index, p, (i64)v};
      if (p < me) before += v;
      total += v;
      if (blockIdx.x == 0 && dst == me) a.out_splits[combine ? p * experts + expert : expert * world + p] = (i64)v;
    });
  }
  if (!__syncthreads_and(ok)) return false;
  if (__syncthreads_or(verdict.what)) return true;

  // For each split of dst, a is the number of rows in out before it, of lower ranks or with padding; b is the rows of dst in all.
  const u64 region = a.align == 0 ? total : total == 0 ? a.align : (total + a.align - 1) / a.align * a.align;
  const u64 x = mine ? (combine ? before : region) : 0, y = mine ? (combine ? total : region) : 0;
  const u64 sum_x = scan(plan, x), sum_y = scan(plan, y);
  if (mine) plan.a[i + 1] = sum_x + x, plan.b[i + 1] = sum_y + y;
  if (i == 0) plan.a[0] = plan.b[0] = 0;
  __syncthreads();
  if (mine) {
    const u32 first = dst * experts, last = first + experts;
    const u64 at = combine ? plan.a[last] - plan.a[first] + plan.start[i] - plan.start[first] : plan.a[i] - plan.a[first] + before;
    const u64 need = plan.b[last] - plan.b[first];
    plan.to[i] = (u64)a.out[dst] + at * a.row;
    if (expert == 0 && need > a.out_rows) verdict = Verdict{kRoom, index, dst, (i64)need};
  }
  return true;
}

// write_offsets stores where the rows of each split begin in this rank's out.
__device__ __forceinline__ void write_offsets(const AllToAllVdevArgs& a, Plan& plan) {
  using namespace symm;
  const u32 n = (u32)a.head.n, world = (u32)a.head.context.ranks(), me = (u32)a.head.context.rank, i = threadIdx.x;
  const u64 before = scan(plan, i < n ? (u64)a.out_splits[i] : 0);
  if (i < n) plan.b[i] = before;
  __syncthreads();
  if (i >= n) return;
  if (a.head.op == kCombine) {
    a.out_offsets[i] = (i64)before;
    return;
  }
  const u32 expert = i / world, first = me * (n / world);
  a.out_offsets[i] = (i64)(plan.a[first + expert] - plan.a[first] + before - plan.b[expert * world]);
}

// report describes to the host what the first block refuses. Of several things all ranks report the same one, with the number of
// rows there are. Only its rank knows how many rows an input has; if that number is `asked` for, the ranks exchange theirs in
// another epoch. False if a wait gave up.
__device__ __noinline__ bool report(const AllToAllVdevArgs& a, bool asked, symm::u32 epoch, Verdict verdict) {
  using namespace symm;
  __shared__ u32 first;
  if (threadIdx.x == 0) first = ~0u;
  __syncthreads();
  const u32 order = verdict.what ? verdict.rank * kSplits + verdict.index : ~0u;
  atomicMin(&first, order);
  __syncthreads();
  u64 rows = a.out_rows;
  if (asked && threadIdx.x < a.head.n) {
    const bool ok = exchange(a.head, epoch, a.in_rows, 0, [&](u32 p, u64 v, u32) {
      if (verdict.what != kRoom && verdict.rank == p) rows = v;
    });
    if (!ok) return false;
  }
  if (verdict.what && order == first) refuse(a.head.context, verdict.what, verdict.rank, verdict.index, (u64)verdict.value, rows);
  return true;
}

// Pieces walks over a block's share of the rows, in pieces of at most `most` bytes that are contiguous on both sides. The block has
// a share of what goes to each rank and sends to one peer after the other, beginning with another peer on every rank, which
// spreads the traffic over the links. Rows that stay on this rank go in between.
class Pieces {
 public:
  __device__ __forceinline__ Pieces(const AllToAllVdevArgs& a, const Plan& plan) : a_(a), plan_(plan) {
    own_ = turn(0);
  }
  __device__ __forceinline__ bool next(symm::u64 most, const char*& src, char*& dst, symm::u64& n) {
    const int world = a_.head.context.ranks();
    while (peer_.at >= peer_.end && rank_ + 1 < world) peer_ = turn(++rank_);
    const bool peers = peer_.at < peer_.end, own = own_.at < own_.end;
    if (!peers && !own) return false;
    const bool stays = own && (!peers || ++sent_ % world == 0);
    take(stays ? own_ : peer_, most, src, dst, n);
    return true;
  }

 private:
  struct Turn {
    symm::u64 at, end;  // bytes in the order of the plan
    symm::u32 split;
  };
  // turn returns the block's share of what goes to the k-th rank after this one.
  __device__ __forceinline__ Turn turn(int k) const {
    using namespace symm;
    const u32 world = (u32)a_.head.context.ranks(), experts = (u32)a_.head.n / world, d = ((u32)a_.head.context.rank + k) % world;
    u32 low = d * experts, high = low + experts;  // the split is in [low, high)
    const u64 first = plan_.start[low] * a_.row, last = plan_.start[high] * a_.row;
    const u64 share = ((last - first + gridDim.x - 1) / gridDim.x + 127) & ~127ull;
    Turn t;
    t.at = first + blockIdx.x * share;
    t.end = t.at + share < last ? t.at + share : last;
    while (t.at < t.end && high - low > 1) {
      const u32 middle = (low + high) / 2;
      if (plan_.start[middle] * a_.row <= t.at) low = middle;
      else high = middle;
    }
    t.split = low;
    return t;
  }
  __device__ __forceinline__ void take(Turn& t, symm::u64 most, const char*& src, char*& dst, symm::u64& n) const {
    while (plan_.start[t.split + 1] * a_.row <= t.at) t.split++;
    const symm::u64 first = plan_.start[t.split] * a_.row, last = plan_.start[t.split + 1] * a_.row, inside = t.at - first;
    n = (last < t.end ? last : t.end) - t.at;
    if (n > most) n = most;
    src = (const char*)a_.head.in + plan_.from[t.split] * a_.row + inside;
    dst = (char*)plan_.to[t.split] + inside;
    t.at += n;
  }

  const AllToAllVdevArgs& a_;
  const Plan& plan_;
  Turn own_, peer_ = {};
  int rank_ = 0, sent_ = 0;
};

// words copies n bytes by words of W; both addresses are multiples of its size.
template <class W>
__device__ __forceinline__ void words(char* dst, const char* src, symm::u64 n) {
  const symm::u64 count = n / sizeof(W);
#pragma unroll 4
  SYMM_SHARE(i, count, threadIdx.x, blockDim.x) ((W*)dst)[i] = ((const W*)src)[i];
  for (symm::u64 i = count * sizeof(W) + threadIdx.x; i < n; i += blockDim.x) dst[i] = src[i];
}

// move_any stores pieces of any length and place.
__device__ __forceinline__ void move_any(Pieces& pieces) {
  using namespace symm;
  const char* src;
  char* dst;
  u64 n;
  while (pieces.next(64 << 10, src, dst, n)) {
    const u64 differ = (u64)src ^ (u64)dst;
    const u64 size = differ & 3 ? 1 : differ & 15 ? 4 : 16;
    u64 head = (0 - (u64)src) & (size - 1);
    if (head > n) head = n;
    words<u8>(dst, src, head);
    if (size == 16) words<uint4>(dst + head, src + head, n - head);
    else if (size == 4) words<u32>(dst + head, src + head, n - head);
    else words<u8>(dst + head, src + head, n - head);
  }
}

#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
// move_bulk stores pieces whose addresses and lengths are multiples of 16 bytes. One thread has the copy engine of the
// multiprocessor carry them through shared memory: while one stage is stored, others are loaded.
__device__ __forceinline__ void move_bulk(Pieces& pieces) {
  using namespace symm;
  constexpr int kStages = 3;
  constexpr u32 kBytes = 8192;
  __shared__ alignas(128) char stage[kStages][kBytes];
  __shared__ alignas(8) u64 arrived[kStages];
  if (threadIdx.x != 0) return;
  const u32 base = (u32)__cvta_generic_to_shared(stage), flags = (u32)__cvta_generic_to_shared(arrived);
  for (int s = 0; s < kStages; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(flags + 8 * s));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  char* to[kStages];
  u64 size[kStages];
  int loaded = 0, stored = 0;
  bool more = true;
  auto load = [&](int s) {
    const char* src;
    if (!(more = pieces.next(kBytes, src, to[s], size[s]))) return;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(flags + 8 * s), "r"((u32)size[s]) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(base + s * kBytes), "l"(src), "r"((u32)size[s]), "r"(flags + 8 * s) : "memory");
    loaded++;
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; s++)
    if (more) load(s);
  for (u32 round = 0; stored < loaded; round++) {
#pragma unroll
    for (int s = 0; s < kStages; s++) {
      if (stored == loaded) break;
      asm volatile(
          "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }" ::"r"(flags + 8 * s), "r"(round & 1) : "memory");
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to[s]), "r"(base + s * kBytes), "r"((u32)size[s]) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      stored++;
      if (more) {
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");  // the stage before this one is free
        load((s + kStages - 1) % kStages);
      }
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

__device__ __forceinline__ void move(const AllToAllVdevArgs& a, const Plan& plan) {
  Pieces pieces(a, plan);
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  symm::u64 skew = (symm::u64)a.head.in | a.row;
  for (int p = 0; p < a.head.context.ranks(); p++) skew |= (symm::u64)a.out[p];
  if ((skew & 15) == 0) {
    move_bulk(pieces);
    return;
  }
#endif
  move_any(pieces);
}

extern "C" __global__ void __launch_bounds__(symm::kThreads) all_to_all_vdev(const __grid_constant__ AllToAllVdevArgs a) {
  using namespace symm;
  begin();
  __shared__ Plan plan;
  u32 epoch = a.head.epochs[blockIdx.x] + 1;
  Verdict verdict = {};
  bool ok = make_plan(a, plan, epoch, verdict);
  const bool refused = __syncthreads_or(verdict.what), asked = __syncthreads_or(verdict.what && verdict.what != kRoom);
  if (ok && refused && blockIdx.x == 0) ok = __syncthreads_and(report(a, asked, epoch += asked, verdict));
  if (threadIdx.x == 0) a.head.epochs[blockIdx.x] = epoch;
  if (!ok) return;
  if (!refused) {
    if (blockIdx.x == 0) write_offsets(a, plan);
    move(a, plan);
  }
  barrier(a.signals, a.head.context, blockIdx.x);
}
SYMM_KERNEL(all_to_all_vdev)
