// sums.cuh: rows that experts made return to the ranks of their tokens and are summed.
#pragma once
#include "tokens/tokens.cuh"

namespace tokens {

using namespace symm;

// slot returns the place at rank owner for row j of a token.
__device__ __forceinline__ char* slot(const TokenArgs& a, u32 owner, u32 bank, u32 t, u32 j, u64 bytes) {
  return a.data[owner] + a.places.slots + ((bank * a.max_tokens + t) * copies(a) + j) * bytes;
}

// each_row calls f(owner, j, row), in a warp, for pieces of the rows that token t of each rank has
// here; j is the number of the row at its owner. The n units from the first one on are shared among
// the warps: f gets the units of its piece.
template <class F>
__device__ __forceinline__ void each_row(const TokenArgs& a, u32 t, u32 first, u32 n, F f) {
  const u32 ranks = (u32)a.context.ranks(), rows = by_expert(a) ? (u32)a.top_k : 1;
  const i32* const table = (const i32*)(a.data[a.context.rank] + a.places.table);
  each_piece(ranks * rows, first, n, [&](u32 i, u32 at, u32 count) {
    const u32 owner = (u32)neighbour(a.context, 1 + (int)(i % ranks)), k = i / ranks;
    if (t >= (u32)a.notes.state[kTokens + owner]) return;
    const i32 row = table[(owner * a.max_tokens + t) * rows + k];
    if (row >= 0) f(owner, by_expert(a) ? k : (u32)a.context.rank, (u64)row, at, count);
  });
}

// total returns unit number u of the sum of a token's rows that exist, in their order. weights
// holds the rows' weights if the combine weights them.
template <class T, class There>
__device__ __forceinline__ Elements<float, 16 / sizeof(T)> total(const TokenArgs& a, const char* rows, u64 bytes, u64 u, const float* weights, There there) {
  constexpr int kUnit = 16 / sizeof(T);
  typedef Elements<T, kUnit> Unit;
  const u32 n = copies(a);
  Elements<float, kUnit> sum = {};
  for (u32 j = 0; j < n; j += kTogether) {
    Unit next[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; k++)
      if (j + k < n && there(j + k)) next[k] = ((const Unit*)(rows + (j + k) * bytes))[u];
#pragma unroll
    for (int k = 0; k < kTogether; k++) {
      if (j + k >= n || !there(j + k)) continue;
      const float weight = a.layout == kExpertMajor ? weights[j + k] : 1.0f;
      const Elements<float, kUnit> x = as<float>(next[k]);
#pragma unroll
      for (int v = 0; v < kUnit; v++) sum.v[v] += weight * x.v[v];
    }
  }
  return sum;
}

// sum adds part of the rows of this rank's token t in its slots.
template <class T>
__device__ __forceinline__ void sum(const TokenArgs& a, u32 bank, u32 t, u32 first, u32 n, u64 bytes) {
  const char* const rows = slot(a, (u32)a.context.rank, bank, t, 0, bytes);
  const i32* const there = (by_expert(a) ? a.notes.chosen : a.notes.order) + (u64)t * copies(a);
  SYMM_SHARE(i, n, threadIdx.x, blockDim.x)
    ((Elements<T, 16 / sizeof(T)>*)((char*)a.out + t * bytes))[first + i] = as<T>(total<T>(a, rows, bytes, first + i, a.notes.kept + t * a.top_k, [&](u32 j) { return there[j] >= 0; }));
}

}  // namespace tokens
