// routing.cuh: a routing counts, and from the counts of all ranks every rank computes where each
// row goes.
#pragma once
#include "tokens/tokens.cuh"

namespace tokens {

using namespace symm;

__device__ __forceinline__ Packet* inbox(const TokenArgs& a, int owner, u32 source, u32 epoch) {
  char* const pad = (char*)a.signals.block[owner];
  return (Packet*)(pad + a.inbox) + ((epoch & 1) * (u32)a.context.ranks() + source) * (items(a) + 1);
}

// hits reports whether selection u, or token u, goes to an item.
__device__ __forceinline__ bool hits(const TokenArgs& a, u32 item, u64 u) {
  if (by_expert(a)) return a.top[u] == (i64)item;
  const i64 first = (i64)item * locals(a), last = first + locals(a);
  bool hit = false;
  for (u32 k = 0; k < (u32)a.top_k; k++) {
    const i64 e = a.top[u * a.top_k + k];
    hit |= e >= first && e < last;
  }
  return hit;
}

// each_hit calls f(u, hit) in the lanes of a warp for selections or tokens u from first to last.
// hit reports whether u goes to an item. each_hit looks up several items before it uses the first.
template <class F>
__device__ __forceinline__ void each_hit(const TokenArgs& a, u32 item, u64 first, u64 last, F f) {
  constexpr u32 kAhead = 8;
  for (; first < last; first += 32 * kAhead) {
    bool hit[kAhead];
#pragma unroll
    for (u32 k = 0; k < kAhead; k++) hit[k] = first + k * 32 + lane() < last && hits(a, item, first + k * 32 + lane());
#pragma unroll
    for (u32 k = 0; k < kAhead; k++)
      if (first + k * 32 < last) f(first + k * 32 + lane(), hit[k]);
  }
}

// order_item numbers the selections or tokens that go to an item, in the order of the tokens, and
// returns their number. All threads of the block call it.
__device__ __forceinline__ u32 order_item(const TokenArgs& a, u32 item) {
  __shared__ u32 sums[32];
  const u64 n = a.tokens * (by_expert(a) ? a.top_k : 1), share = (n + 32 * warps() - 1) / (32 * warps()) * 32;
  const u64 first = warp() * share, last = first + share < n ? first + share : n;
  u32 mine = 0;
  each_hit(a, item, first, last, [&](u64, bool hit) { mine += __popc(__ballot_sync(~0u, hit)); });
  if (lane() == 0) sums[warp()] = mine;
  __syncthreads();
  u32 before = 0, total = 0;
  for (u32 w = 0; w < warps(); w++) {
    if (w == warp()) before = total;
    total += sums[w];
  }
  each_hit(a, item, first, last, [&](u64 u, bool hit) {
    const u32 mask = __ballot_sync(~0u, hit);
    const i32 at = hit ? (i32)(before + __popc(mask & ((1u << lane()) - 1))) : -1;
    if (!by_expert(a) && u < last) a.notes.order[u * a.context.ranks() + item] = at;
    else if (hit) a.notes.order[u] = at;
    before += __popc(mask);
  });
  __syncthreads();
  return total;
}

// check_top stores the chosen experts, and returns the index of the first invalid choice: an expert
// that does not exist, or that its token has chosen before. It returns ~0 if all are valid. All
// threads of the block call it.
__device__ __forceinline__ u32 check_top(const TokenArgs& a) {
  __shared__ u32 first;
  if (threadIdx.x == 0) first = ~0u;
  __syncthreads();
  SYMM_SHARE(i, a.tokens * a.top_k, threadIdx.x, blockDim.x) {
    const i64 e = a.top[i];
    bool bad = e < -1 || e >= (i64)a.experts;
    for (u64 k = i / a.top_k * a.top_k; k < i; k++) bad |= e >= 0 && a.top[k] == e;
    a.notes.chosen[i] = (i32)e;
    if (bad) atomicMin(&first, (u32)i);
  }
  __syncthreads();
  return first;
}

// scan returns the sum of the values of the lanes before this one.
__device__ __forceinline__ u32 scan(u32 value) {
  u32 sum = value;
  for (int d = 1; d < 32; d <<= 1) {
    const u32 other = __shfl_up_sync(~0u, sum, d);
    if ((int)lane() >= d) sum += other;
  }
  return sum - value;
}

// place: a warp computes where this rank's rows begin at rank d, and returns the number of rows
// that d needs.
__device__ __forceinline__ u64 place(const TokenArgs& a, u32 d) {
  const u32 ranks = (u32)a.context.ranks(), me = (u32)a.context.rank, n = items(a);
  if (!by_expert(a)) {
    u32 before = 0, total = 0;
    for (u32 q = 0; q < ranks; q++) {
      if (q == me) before = total;
      const u32 count = (u32)a.notes.all[q * n + d];
      total += count;
      if (d == me && lane() == 0) a.notes.counts[q] = (i32)count;
    }
    if (lane() == 0) a.notes.base[d] = (i32)(a.layout == kRankMajor ? me * (u32)a.max_tokens : before);
    return total;
  }
  u64 start = 0;
  for (u32 first = 0; first < locals(a); first += 32) {
    const u32 local = first + lane(), e = d * locals(a) + local;
    u32 before = 0, total = 0;
    if (local < locals(a))
      for (u32 q = 0; q < ranks; q++) {
        if (q == me) before = total;
        total += (u32)a.notes.all[q * n + e];
      }
    const u32 zone = (u32)((total + a.align - 1) / a.align * a.align), at = (u32)start + scan(zone);
    if (local < locals(a)) {
      a.notes.base[e] = (i32)(before + (a.layout == kZones ? at : local * ranks * (u32)a.max_tokens));
      if (d == me) {
        a.notes.counts[local] = (i32)total;
        if (a.layout == kZones) a.notes.offsets[local] = (i32)at;
      }
    }
    start += __shfl_sync(~0u, at + zone, 31) - (u32)start;
  }
  if (a.layout == kZones && d == me && lane() == 0) a.notes.offsets[locals(a)] = (i32)start;
  return start;
}

// settle receives the counts of all ranks and decides on the places. receive(at, from, q) waits for
// a packet of a rank; it returns false if it gave up.
template <class F>
__device__ __forceinline__ void settle(const TokenArgs& a, u32 epoch, F receive) {
  __shared__ u32 bad, full, most;
  __shared__ u64 need[kMaxRanks];
  __shared__ u32 index[kMaxRanks];
  __shared__ i32 value[kMaxRanks];
  const u32 ranks = (u32)a.context.ranks(), n = items(a);
  if (threadIdx.x == 0) bad = full = ~0u, most = 0;
  __syncthreads();
  bool ok = true;
  for (u32 i = threadIdx.x; ok && i < ranks * (n + 1); i += blockDim.x) {
    const u32 from = i / (n + 1), item = i % (n + 1);
    Packet q;
    if (!(ok = receive(inbox(a, a.context.rank, from, epoch) + item, from, q))) break;
    if (item < n) {
      a.notes.all[from * n + item] = (i32)q.data[0];
      continue;
    }
    a.notes.state[kTokens + from] = (i32)q.data[0];
    atomicMax(&most, q.data[0]);
    index[from] = q.data[1], value[from] = (i32)q.data[2];
    if (q.data[1] != ~0u) atomicMin(&bad, from);
  }
  if (!__syncthreads_and(ok)) return;
  const bool limited = a.layout == kFlat || a.layout == kZones;
  for (u32 d = warp(); d < ranks; d += warps()) {
    const u64 rows = place(a, d);
    if (lane() != 0) continue;
    need[d] = rows;
    if (limited && rows > a.max_recv) atomicMin(&full, d);
  }
  __syncthreads();
  const bool refused = bad != ~0u || full != ~0u;
  if (refused) {
    for (u32 i = threadIdx.x; i < (by_expert(a) ? locals(a) : ranks); i += blockDim.x) a.notes.counts[i] = 0;
    if (a.layout == kZones)
      for (u32 i = threadIdx.x; i <= locals(a); i += blockDim.x) a.notes.offsets[i] = 0;
  }
  if (threadIdx.x != 0) return;
  a.notes.state[kVoid] = refused, a.notes.state[kMost] = (i32)most;
  if (bad != ~0u) {
    const bool none = value[bad] < -1 || value[bad] >= (i64)a.experts;
    refuse(a.context, none ? kExpert : kTwice, bad, index[bad], (u64)(i64)value[bad], none ? a.experts : a.top_k);
  } else if (full != ~0u) {
    refuse(a.context, kRoom, full, 0, need[full], a.max_recv);
  }
}

// count counts the selections or tokens for every item, and stores each count as a packet in the
// inboxes of the ranks whose memory is mapped. The last packet carries the number of tokens.
__device__ __forceinline__ void count(const TokenArgs& a, u32 epoch) {
  const u32 n = items(a);
  for (u32 item = blockIdx.x; item <= n; item += gridDim.x) {
    Packet q = {{0, 0, 0}, epoch};
    if (item < n) {
      q.data[0] = order_item(a, item);
    } else {
      q.data[0] = (u32)a.tokens, q.data[1] = check_top(a);
      if (q.data[1] != ~0u) {
        const i64 e = a.top[q.data[1]];
        q.data[2] = (u32)(i32)(e < -0x7fffffff ? -0x7fffffff : e > 0x7fffffff ? 0x7fffffff : e);
      }
    }
    for (int k = 1 + (int)threadIdx.x; k <= a.context.ranks(); k += (int)blockDim.x) {
      const int to = neighbour(a.context, k);
      if (near(a, (u32)to)) store_packet(inbox(a, to, (u32)a.context.rank, epoch) + item, q);
    }
  }
  __syncthreads();
}

}  // namespace tokens
