// token_dispatch: warps take parts of rows from this rank's tokens to their places at the ranks of the experts, by stores of 16 bytes.
// Then blocks of the same index of all ranks meet. A token goes once to each rank: there it lies in its first expert's row, from
// which the block that met its sender copies it to the others.
#include "tokens/fp8.cuh"
#include "tokens/tokens.cuh"

using namespace symm;
using namespace tokens;

// describe stores what belongs to the row of a token at a rank besides its values, where rows are of ranks.
__device__ __forceinline__ void describe(const TokenArgs& a, u32 t, u32 rank, u32 row) {
  char* const to = a.data[rank];
  const i32 first = (i32)(rank * locals(a));
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 from = t * a.top_k + k, at = row * a.top_k + k;
    const i32 e = a.notes.chosen[from] - first;
    const bool here = e >= 0 && e < (i32)locals(a);
    ((float*)(to + a.places.weights))[at] = here ? a.given[from] : 0.0f;
    if (a.layout == kFlat) ((i64*)(to + a.places.index))[at] = here ? e : -1;
    else ((i32*)(to + a.places.index))[at] = here ? e : -1;
  }
}

// enter tells a rank, for its combine, where the rows of a token lie there, and of kZones the rows' weights.
__device__ __forceinline__ void enter(const TokenArgs& a, u32 t, u32 rank) {
  const u32 me = (u32)a.context.rank;
  i32* const table = (i32*)(a.data[rank] + a.places.table);
  if (!by_expert(a)) {
    const i32 order = a.notes.order[t * (u64)a.context.ranks() + rank];
    if (lane() == 0) table[me * a.max_tokens + t] = order < 0 ? -1 : a.notes.base[rank] + order;
    if (order >= 0) describe(a, t, rank, (u32)(a.notes.base[rank] + order));
    return;
  }
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 i = t * a.top_k + k;
    const i32 e = a.notes.chosen[i];
    const i32 row = e >= 0 && (u32)e / locals(a) == rank ? a.notes.base[e] + a.notes.order[i] : -1;
    table[(me * a.max_tokens + t) * a.top_k + k] = row;
    if (row >= 0 && a.layout == kZones) ((float*)(a.data[rank] + a.places.weights))[row] = a.given[i];
  }
}

// Target is a row that a token is sent to. rank is -1 if there is none.
struct Target {
  i32 rank, row;
};

// target is that of selection j of a token, if no earlier one has sent it to the same rank; or that of rank j.
__device__ __forceinline__ Target target(const TokenArgs& a, u32 t, u32 j) {
  if (!by_expert(a)) {
    const i32 order = a.notes.order[t * (u64)a.context.ranks() + j];
    return order < 0 ? Target{-1, 0} : Target{(i32)j, a.notes.base[j] + order};
  }
  const i32* const chosen = a.notes.chosen + t * a.top_k;
  const i32 e = chosen[j];
  if (e < 0) return Target{-1, 0};
  const u32 rank = (u32)e / locals(a);
  for (u32 i = 0; i < j; i++)
    if (chosen[i] >= 0 && (u32)chosen[i] / locals(a) == rank) return Target{-1, 0};
  return Target{(i32)rank, a.notes.base[e] + a.notes.order[t * a.top_k + j]};
}

// push sends this rank's tokens. carry(to, t, first, n) sends n units of a token from the first one on.
template <class F>
__device__ __forceinline__ void push(const TokenArgs& a, F carry) {
  const u32 units = payload(a) / 16, ranks = (u32)a.context.ranks();
  each_part(portion_of(a, units), units, [&](u32 t, u32 first, u32 n) {
    if (t >= a.tokens) return;
    each_piece(copies(a), first, n, [&](u32 j, u32 at, u32 count) {
      const Target to = target(a, t, j);
      if (to.rank >= 0) carry(to, t, at, count);
    });
    if (first != 0 && !by_expert(a)) return;  // who meets this block replicates by what it enters
    for (u32 rank = warp(); rank < ranks; rank += warps()) enter(a, t, rank);
    for (u32 k = threadIdx.x; k < (u32)a.top_k; k += blockDim.x) a.notes.kept[t * a.top_k + k] = a.given[t * a.top_k + k];
  });
}

__device__ __forceinline__ void push_rows(const TokenArgs& a) {
  const u64 bytes = payload(a);
  push(a, [&](const Target& to, u32 t, u32 first, u32 n) {
    move(a.data[to.rank] + a.places.rows + to.row * bytes + first * 16, (const char*)a.in + t * bytes + first * 16, n);
  });
}

// push_quantised: a unit is 16 elements, which become 16 bytes; eight lanes have a scale in common.
template <class T>
__device__ __forceinline__ void push_quantised(const TokenArgs& a) {
  const u64 hidden = a.hidden;
  push(a, [&](const Target& to, u32 t, u32 first, u32 n) {
    char* const row = a.data[to.rank] + a.places.rows + to.row * hidden;
    float* const scales = (float*)(a.data[to.rank] + a.places.scales) + to.row * (hidden / kScaled);
    const T* const from = (const T*)a.in + t * hidden;
    for (u32 i = 0; i < n; i += 32) quantise(row, scales, from, first + i + lane(), i + lane() < n);
  });
}

// announce is the half of a barrier that does not wait.
__device__ __forceinline__ void announce(const TokenArgs& a) {
  u32* const count = rounds(a.signals, a.context, blockIdx.x);
  __syncthreads();
  const u32 round = load_relaxed(count) + 1;
  arrive(a.signals, a.context, blockIdx.x, round);
  __syncthreads();
  if (threadIdx.x == 0) store_relaxed(count, round);
}

extern "C" __global__ void __launch_bounds__(512) token_dispatch(const __grid_constant__ TokenArgs a) {
  begin();
  if (a.notes.state[kVoid]) return;
  if (a.manner & kMeet && !barrier(a.signals, a.context, blockIdx.x)) return;
  if (!(a.manner & kQuantise)) push_rows(a);
  else if (a.element == kTokenF32) push_quantised<float>(a);
  else if (a.element == kTokenF16) push_quantised<f16>(a);
  else push_quantised<bf16>(a);
  if (a.manner & kSplit) announce(a);
  else if (barrier(a.signals, a.context, blockIdx.x) && by_expert(a)) replicate(a);
}
SYMM_KERNEL(token_dispatch)
