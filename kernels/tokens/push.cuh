// push.cuh: stores rows of tokens in their places at ranks whose memory is mapped.
#pragma once
#include "tokens/fp8.cuh"
#include "tokens/tokens.cuh"

namespace tokens {

using namespace symm;

// Origin is a rank whose tokens this rank pushes, and the rank's notes about these tokens. It is
// this rank, or a rank on another host that has sent its tokens here.
struct Origin {
  u32 rank;
  u64 tokens;
  const i32 *chosen, *order, *base;
  const float* weights;
};

// describe stores the data that accompanies the row of a token at a rank, for layouts with one row
// for each rank.
__device__ __forceinline__ void describe(const TokenArgs& a, const Origin& o, u32 t, u32 rank, u32 row) {
  char* const to = a.data[rank];
  const i32 first = (i32)(rank * locals(a));
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 from = t * a.top_k + k, at = row * a.top_k + k;
    const i32 e = o.chosen[from] - first;
    const bool here = e >= 0 && e < (i32)locals(a);
    ((float*)(to + a.places.weights))[at] = here ? o.weights[from] : 0.0f;
    if (a.layout == kFlat) ((i64*)(to + a.places.index))[at] = here ? e : -1;
    else ((i32*)(to + a.places.index))[at] = here ? e : -1;
  }
}

// enter stores at a rank the places of a token's rows there, for the combine, and for kZones the
// weights of the rows.
__device__ __forceinline__ void enter(const TokenArgs& a, const Origin& o, u32 t, u32 rank) {
  i32* const table = (i32*)(a.data[rank] + a.places.table);
  if (!by_expert(a)) {
    const i32 order = o.order[t * (u64)a.context.ranks() + rank];
    if (lane() == 0) table[o.rank * a.max_tokens + t] = order < 0 ? -1 : o.base[rank] + order;
    if (order >= 0) describe(a, o, t, rank, (u32)(o.base[rank] + order));
    return;
  }
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 i = t * a.top_k + k;
    const i32 e = o.chosen[i];
    const i32 row = e >= 0 && (u32)e / locals(a) == rank ? o.base[e] + o.order[i] : -1;
    table[(o.rank * a.max_tokens + t) * a.top_k + k] = row;
    if (row >= 0 && a.layout == kZones) ((float*)(a.data[rank] + a.places.weights))[row] = o.weights[i];
  }
}

// Target is the row to which a token is sent. rank is -1 if there is none.
struct Target {
  i32 rank, row;
};

// target returns the target of selection j of a token, if no earlier selection has sent the token
// to the same rank; or, for layouts by rank, the target at rank j.
__device__ __forceinline__ Target target(const TokenArgs& a, const Origin& o, u32 t, u32 j) {
  if (!by_expert(a)) {
    const i32 order = o.order[t * (u64)a.context.ranks() + j];
    return order < 0 ? Target{-1, 0} : Target{(i32)j, o.base[j] + order};
  }
  const i32* const chosen = o.chosen + t * a.top_k;
  const i32 e = chosen[j];
  if (e < 0) return Target{-1, 0};
  const u32 rank = (u32)e / locals(a);
  for (u32 i = 0; i < j; i++)
    if (chosen[i] >= 0 && (u32)chosen[i] / locals(a) == rank) return Target{-1, 0};
  return Target{(i32)rank, o.base[e] + o.order[t * a.top_k + j]};
}

// push sends an origin's tokens to the ranks that satisfy `reaches`. carry(to, t, first, n) sends n
// units of a token from the first one on.
template <class Reaches, class F>
__device__ __forceinline__ void push(const TokenArgs& a, const Origin& o, Reaches reaches, F carry) {
  const u32 units = payload(a) / 16, ranks = (u32)a.context.ranks();
  each_part(portion_of(a, units), units, [&](u32 t, u32 first, u32 n) {
    if (t >= o.tokens) return;
    each_piece(copies(a), first, n, [&](u32 j, u32 at, u32 count) {
      const Target to = target(a, o, t, j);
      if (to.rank >= 0 && reaches((u32)to.rank)) carry(to, t, at, count);
    });
    if (first != 0 && !by_expert(a)) return;  // the block that meets this one replicates by these entries
    for (u32 rank = warp(); rank < ranks; rank += warps())
      if (reaches(rank)) enter(a, o, t, rank);
  });
}

// push_quantised: a unit is 16 elements, which become 16 bytes; eight lanes share a scale.
template <class T, class Reaches>
__device__ __forceinline__ void push_quantised(const TokenArgs& a, const Origin& o, Reaches reaches) {
  const u64 hidden = a.hidden;
  push(a, o, reaches, [&](const Target& to, u32 t, u32 first, u32 n) {
    const Rows rows = delivered(a, (u32)to.rank);
    const T* const from = (const T*)a.in + t * hidden;
    for (u32 i = 0; i < n; i += 32) quantise(rows.at + to.row * hidden, rows.scales + to.row * (hidden / kScaled), from, first + i + lane(), i + lane() < n);
  });
}

// push_own sends this rank's tokens, and keeps their weights.
template <class Reaches>
__device__ __forceinline__ void push_own(const TokenArgs& a, Reaches reaches) {
  const Origin own{(u32)a.context.rank, a.tokens, a.notes.chosen, a.notes.order, a.notes.base, a.given};
  if (!(a.manner & kQuantise)) {
    const u64 bytes = payload(a);
    push(a, own, reaches, [&](const Target& to, u32 t, u32 first, u32 n) {
      move(delivered(a, (u32)to.rank).at + to.row * bytes + first * 16, (const char*)a.in + t * bytes + first * 16, n);
    });
  } else if (a.element == kTokenF32) {
    push_quantised<float>(a, own, reaches);
  } else if (a.element == kTokenF16) {
    push_quantised<f16>(a, own, reaches);
  } else {
    push_quantised<bf16>(a, own, reaches);
  }
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < a.tokens * a.top_k; i += gridDim.x * (u64)blockDim.x) a.notes.kept[i] = a.given[i];
}

}  // namespace tokens
