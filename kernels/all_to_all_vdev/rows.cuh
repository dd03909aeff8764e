// rows.cuh: moves rows to the ranks named by splits in device memory. The splits of all ranks
// determine the order in which the rows arrive.
//
// Dispatch: splits are ordered by destination, then by expert, and the rows lie packed in that
// order; out is ordered by expert, then by source, with every expert's region padded. Combine:
// splits are ordered by expert, then by destination, with an offset each; out is ordered by source,
// then by expert, packed. A dispatch with one expert for each rank and no padding is the plain
// exchange of rows.
//
// Every block makes a plan from the splits of all ranks; all_to_all_vdev.cu and hosts/hosts_rows.cu
// exchange the splits in different ways. The splits are checked before anything is moved. All ranks
// check the same values and come to the same decision: either every rank moves its rows or every
// rank refuses.
#pragma once
#include "symm/kernel.cuh"
#include "symm/signal.cuh"

namespace symm {

enum RowsLayout : u64 { kDispatch = 0, kCombine = 1 };
SYMM_VALUES(RowsLayout, kDispatch, kCombine)

// RowsRefused are the reasons for which splits are refused.
enum RowsRefused : u32 { kBadSplit = 16, kBadSum = 17, kBadOffset = 18, kNoRoom = 19 };
SYMM_VALUES(RowsRefused, kBadSplit, kBadSum, kBadOffset, kNoRoom)

struct RowsArgs {
  const void* in;
  u64 n;                // splits
  u64 layout;           // a RowsLayout
  const i64* splits;
  const i64* offsets;   // of combine
  i64* out_splits;
  i64* out_offsets;
  u64 in_rows, out_rows;
  u64 row;              // bytes
  u64 align;            // the rows of a region of a dispatch are a multiple of align; 0: no padding
  u64 start;            // offset of out in its window, for members on other hosts
  void* out[kMaxRanks]; // by rank; 0 for members on other hosts
};
SYMM_LAYOUT(RowsArgs, in, n, layout, splits, offsets, out_splits, out_offsets, in_rows, out_rows, row, align, start, out)

namespace rows {

constexpr int kSplits = 512;  // maximum number of splits: one for each thread
SYMM_VALUES(Splits, kSplits)

// Plan holds the source and the destination of the rows of each split. The splits are in the order
// of their destinations.
struct Plan {
  u64 start[kSplits + 1];  // number of rows of all earlier splits
  u64 from[kSplits];       // the first row, as an index into in
  u64 to[kSplits];         // first row at the destination: address, or on another host offset in out's window
  u64 a[kSplits + 1], b[kSplits + 1], warps[32];
  u32 received[kSplits];   // rows of each split that comes to this rank, in the order of the sources
};

// scan returns the sum of the values of the threads before this one, to the first n threads. All
// threads of the block call it. It synchronises them only if n is above 32.
__device__ __forceinline__ u64 scan(Plan& plan, u32 n, u64 value) {
  const int lane = threadIdx.x & 31;
  u64 sum = value;
  for (int d = 1; d < 32 && d < n; d <<= 1) {
    const u64 other = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += other;
  }
  if (n <= 32) return sum - value;
  __syncthreads();
  if (lane == 31) plan.warps[threadIdx.x >> 5] = sum;
  __syncthreads();
  for (int w = 0; w < (int)(threadIdx.x >> 5); w++) sum += plan.warps[w];
  return sum - value;
}

// find returns the split of [low, high) that has the byte `at`, counted from the first row of the
// plan.
__device__ __forceinline__ u32 find(const Plan& plan, u64 row, u32 low, u32 high, u64 at) {
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    if (plan.start[middle] * row <= at) low = middle;
    else high = middle;
  }
  return low;
}

// Verdict is a thread's reason to refuse the splits. Its field `what` is 0 if there is no reason.
struct Verdict {
  u32 what, index, rank;
  i64 value;
};

// check checks this rank's own split i.
__device__ __forceinline__ Verdict check(const Context& c, const RowsArgs& a, u32 i, i64 split, u64 sum) {
  const u32 me = (u32)c.rank;
  const i64 rows = (i64)a.in_rows;
  if (split < 0 || split > rows) return Verdict{kBadSplit, i, me, split};
  if (a.layout == kDispatch && i == a.n - 1 && sum > a.in_rows) return Verdict{kBadSum, i, me, (i64)sum};
  if (a.layout == kCombine && split > 0) {
    const i64 offset = a.offsets[i];
    if (offset < 0 || offset > rows - split) return Verdict{kBadOffset, i, me, offset};
  }
  return Verdict{};
}

// make_plan exchanges the splits and fills the plan. All threads of the block call swap(mine, i,
// value, mark, f). It sends a value and a mark of split i to all ranks, if split i belongs to this
// thread, and calls f(p, value, mark) with the value and mark that each rank p has sent of its
// split i, in the order of the ranks. It returns false if a wait gave up; make_plan then returns
// false too. The block has to synchronise before it reads the plan. verdict is set to this thread's
// reason to refuse.
template <class Swap>
__device__ __forceinline__ bool make_plan(const Context& c, const RowsArgs& a, Plan& plan, Verdict& verdict, Swap swap) {
  const u32 n = (u32)a.n, world = (u32)c.ranks(), me = (u32)c.rank, experts = n / world, i = threadIdx.x;
  const bool mine = i < n, combine = a.layout == kCombine;
  const u32 dst = i / experts, expert = i % experts, index = combine ? expert * world + dst : i;

  const i64 split = mine ? a.splits[index] : 0;
  const u64 start = scan(plan, n, split < 0 || split > (i64)a.in_rows ? 0 : (u64)split);
  if (mine) {
    plan.start[i] = start;
    if (i == n - 1) plan.start[n] = start + (u64)split;
    plan.from[i] = combine ? (u64)a.offsets[index] : start;
    verdict = check(c, a, index, split, start + (u64)split);
  }

  u64 before = 0, total = 0;
  const i64 value = verdict.what ? verdict.value : split;
  const bool ok = swap(mine, index, (u64)value, verdict.what, [&](u32 p, u64 v, u32 what) {
    if (what && (!verdict.what || p < verdict.rank)) verdict = Verdict{what, index, p, (i64)v};
    if (p < me) before += v;
    total += v;
    if (dst != me) return;
    plan.received[p * experts + expert] = (u32)v;
    if (blockIdx.x == 0) a.out_splits[combine ? p * experts + expert : expert * world + p] = (i64)v;
  });
  if (__syncthreads_or(!ok || verdict.what)) return __syncthreads_and(ok);

  // For each split of dst, a is the number of rows that lie before it in out, padding and rows of
  // lower ranks included; b is the total number of rows of dst.
  const u64 region = total == 0 ? a.align : a.align <= 1 ? total : (total + a.align - 1) / a.align * a.align;
  const u64 x = mine ? (combine ? before : region) : 0, y = mine ? (combine ? total : region) : 0;
  const u64 sum_x = scan(plan, n, x), sum_y = scan(plan, n, y);
  if (mine) plan.a[i + 1] = sum_x + x, plan.b[i + 1] = sum_y + y;
  if (i == 0) plan.a[0] = plan.b[0] = 0;
  __syncthreads();
  if (mine) {
    const u32 first = dst * experts, last = first + experts;
    const u64 at = combine ? plan.a[last] - plan.a[first] + plan.start[i] - plan.start[first] : plan.a[i] - plan.a[first] + before;
    const u64 need = plan.b[last] - plan.b[first];
    plan.to[i] = (a.out[dst] ? (u64)a.out[dst] : a.start) + at * a.row;
    if (expert == 0 && need > a.out_rows) verdict = Verdict{kNoRoom, index, dst, (i64)need};
  }
  return true;
}

// offset_in_out returns the row of this rank's out at which the rows of split i begin, for thread
// i. Splits are in the order of out, and rows is the number of rows of split i. All threads of the
// block call it, once after make_plan.
__device__ __forceinline__ u64 offset_in_out(const Context& c, const RowsArgs& a, Plan& plan, u64 rows) {
  const u32 n = (u32)a.n, world = (u32)c.ranks(), me = (u32)c.rank, i = threadIdx.x;
  const u64 before = scan(plan, n, i < n ? rows : 0);
  if (a.layout == kCombine) return before;
  if (i < n) plan.b[i] = before;
  __syncthreads();
  if (i >= n) return 0;
  const u32 expert = i / world, first = me * (n / world);
  return plan.a[first + expert] - plan.a[first] + before - plan.b[expert * world];
}

// write_offsets stores where the rows of each split begin in this rank's out.
__device__ __forceinline__ void write_offsets(const Context& c, const RowsArgs& a, Plan& plan) {
  const u32 i = threadIdx.x;
  const u64 offset = offset_in_out(c, a, plan, i < a.n ? (u64)a.out_splits[i] : 0);
  if (i < a.n) a.out_offsets[i] = (i64)offset;
}

// report describes to the host why the first block refuses. rows is the number of rows of the
// refused input, or of out. If there are several reasons, all ranks report the same one.
__device__ inline __noinline__ void report(const Context& c, Verdict verdict, u64 rows) {
  __shared__ u32 first;
  if (threadIdx.x == 0) first = ~0u;
  __syncthreads();
  const u32 order = verdict.what ? verdict.rank * kSplits + verdict.index : ~0u;
  atomicMin(&first, order);
  __syncthreads();
  if (verdict.what && order == first) refuse(c, verdict.what, verdict.rank, verdict.index, (u64)verdict.value, rows);
}

// Pieces walks over a block's share of the rows, in pieces of at most `most` bytes that are
// contiguous on both sides. The block has a share of the rows for each rank on this host. It sends
// to one peer after the other, and each rank begins with a different peer, which spreads the
// traffic over the links. Rows that stay on this rank are copied in between.
class Pieces {
 public:
  __device__ __forceinline__ Pieces(const Context& c, const RowsArgs& a, const Plan& plan) : a_(a), plan_(plan), world_((u32)c.ranks()), me_((u32)c.rank) {
    own_ = turn(0);
  }
  __device__ __forceinline__ bool next(u64 most, const char*& src, char*& dst, u64& n) {
    while (peer_.at >= peer_.end && rank_ + 1 < world_) peer_ = turn(++rank_);
    const bool peers = peer_.at < peer_.end, own = own_.at < own_.end;
    if (!peers && !own) return false;
    const bool stays = own && (!peers || ++sent_ % world_ == 0);
    take(stays ? own_ : peer_, most, src, dst, n);
    return true;
  }

 private:
  struct Turn {
    u64 at, end;  // positions in bytes, in the order of the plan
    u32 split;
  };
  // turn returns the block's share of the rows for the k-th rank after this one.
  __device__ __forceinline__ Turn turn(u32 k) const {
    const u32 experts = (u32)a_.n / world_, d = (me_ + k) % world_;
    if (!a_.out[d]) return Turn{};
    const u32 low = d * experts, high = low + experts;
    const u64 first = plan_.start[low] * a_.row, last = plan_.start[high] * a_.row;
    const u64 share = ((last - first + gridDim.x - 1) / gridDim.x + 127) & ~127ull;
    Turn t;
    t.at = first + blockIdx.x * share;
    t.end = t.at + share < last ? t.at + share : last;
    t.split = t.at < t.end ? find(plan_, a_.row, low, high, t.at) : low;
    return t;
  }
  __device__ __forceinline__ void take(Turn& t, u64 most, const char*& src, char*& dst, u64& n) const {
    while (plan_.start[t.split + 1] * a_.row <= t.at) t.split++;
    const u64 first = plan_.start[t.split] * a_.row, last = plan_.start[t.split + 1] * a_.row, inside = t.at - first;
    n = (last < t.end ? last : t.end) - t.at;
    if (n > most) n = most;
    src = (const char*)a_.in + plan_.from[t.split] * a_.row + inside;
    dst = (char*)plan_.to[t.split] + inside;
    t.at += n;
  }

  const RowsArgs& a_;
  const Plan& plan_;
  u32 world_, me_, rank_ = 0, sent_ = 0;
  Turn own_, peer_ = {};
};

// words copies n bytes by words of type W; both addresses are multiples of the size of W.
template <class W>
__device__ __forceinline__ void words(char* dst, const char* src, u64 n) {
  const u64 count = n / sizeof(W);
#pragma unroll 4
  SYMM_SHARE(i, count, threadIdx.x, blockDim.x) ((W*)dst)[i] = ((const W*)src)[i];
  for (u64 i = count * sizeof(W) + threadIdx.x; i < n; i += blockDim.x) dst[i] = src[i];
}

// move_any stores pieces of any length and alignment.
__device__ __forceinline__ void move_any(Pieces& pieces) {
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
// move_bulk stores pieces whose addresses and lengths are multiples of 16 bytes. One thread lets
// the copy engine of the multiprocessor carry them through shared memory: while one stage is
// stored, others are loaded.
__device__ __forceinline__ void move_bulk(Pieces& pieces) {
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

// move stores the block's share of the rows for members on this host.
__device__ __forceinline__ void move(const Context& c, const RowsArgs& a, const Plan& plan) {
  Pieces pieces(c, a, plan);
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  u64 skew = (u64)a.in | a.row;
  for (int p = 0; p < c.ranks(); p++) skew |= (u64)a.out[p];
  if ((skew & 15) == 0) {
    move_bulk(pieces);
    return;
  }
#endif
  move_any(pieces);
}

}  // namespace rows
}  // namespace symm
