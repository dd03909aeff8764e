// token_dispatch: every warp takes rows, or parts of rows, from this rank's tokens to their places at the ranks of the experts, by
// stores of 16 bytes. Then blocks of the same index of all ranks meet: after the kernel everything has arrived.
#include "tokens/fp8.cuh"
#include "tokens/tokens.cuh"

using namespace symm;
using namespace tokens;

// Row is where a row comes from and goes to. rank is -1 if there is none.
struct Row {
  i32 rank;
  u32 token, at;
};

// row_of is row i of this rank: of a selection, or of a token and a rank.
__device__ __forceinline__ Row row_of(const TokenArgs& a, u64 i) {
  const u32 n = copies(a), t = (u32)(i / n), j = (u32)(i % n);
  if (!by_expert(a)) return Row{a.notes.order[i] < 0 ? -1 : (i32)j, t, (u32)(a.notes.base[j] + a.notes.order[i])};
  const i32 e = a.notes.chosen[i];
  if (e < 0) return Row{-1, t, 0};
  return Row{(i32)((u32)e / locals(a)), t, (u32)(a.notes.base[e] + a.notes.order[i])};
}

// describe stores what belongs to a row besides its values.
__device__ __forceinline__ void describe(const TokenArgs& a, const Row& r, u64 i) {
  char* const to = a.data[r.rank];
  if (a.layout == kZones && lane() == 0) ((float*)(to + a.places.weights))[r.at] = a.given[i];
  if (by_expert(a)) return;
  const i32 first = r.rank * (i32)locals(a);
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 from = r.token * a.top_k + k, at = r.at * a.top_k + k;
    const i32 e = a.notes.chosen[from] - first;
    const bool here = e >= 0 && e < (i32)locals(a);
    ((float*)(to + a.places.weights))[at] = here ? a.given[from] : 0.0f;
    if (a.layout == kFlat) ((i64*)(to + a.places.index))[at] = here ? e : -1;
    else ((i32*)(to + a.places.index))[at] = here ? e : -1;
  }
}

// enter tells a rank, for its combine, where the rows of a token lie there.
__device__ __forceinline__ void enter(const TokenArgs& a, u32 t, u32 rank) {
  const u32 me = (u32)a.context.rank;
  i32* const table = (i32*)(a.data[rank] + a.places.table);
  if (!by_expert(a)) {
    const i32 order = a.notes.order[t * (u64)a.context.ranks() + rank];
    if (lane() == 0) table[me * a.max_tokens + t] = order < 0 ? -1 : a.notes.base[rank] + order;
    return;
  }
  for (u32 k = lane(); k < (u32)a.top_k; k += 32) {
    const u64 i = t * a.top_k + k;
    const i32 e = a.notes.chosen[i];
    table[(me * a.max_tokens + t) * a.top_k + k] = e >= 0 && (u32)e / locals(a) == rank ? a.notes.base[e] + a.notes.order[i] : -1;
  }
}

// push takes all rows, in parts of `part` units, of which a token has `units`. carry(to, rank, row, token, first, n) takes a part of one.
template <class F>
__device__ __forceinline__ void push(const TokenArgs& a, u32 units, F carry) {
  const u32 ranks = (u32)a.context.ranks(), all = gridDim.x * warps(), me = blockIdx.x * warps() + warp();
  const u64 rows = a.tokens * copies(a);
  // As many parts as it takes for every warp to have some.
  u32 parts = rows ? (u32)((2 * all + rows - 1) / rows) : 1;
  if (parts > (units + 31) / 32) parts = (units + 31) / 32;
  const u32 part = ((units + parts - 1) / parts + 31) & ~31u;
  for (u64 i = me; i < rows * parts; i += all) {
    const u64 row = i / parts;
    const u32 first = (u32)(i % parts) * part;
    const Row r = row_of(a, row);
    if (r.rank < 0 || first >= units) continue;
    carry(r, first, first + part < units ? part : units - first);
    if (first == 0) describe(a, r, row);
  }
  for (u64 i = me; i < a.tokens * ranks; i += all) enter(a, (u32)(i / ranks), (u32)(i % ranks));
  for (u64 i = me * 32 + lane(); i < a.tokens * a.top_k; i += all * 32) a.notes.kept[i] = a.given[i];
}

__device__ __forceinline__ void push_rows(const TokenArgs& a) {
  const u32 bytes = (u32)a.hidden * element_bytes(a);
  push(a, bytes / 16, [&](const Row& r, u32 first, u32 n) {
    move(a.data[r.rank] + a.places.rows + (u64)r.at * bytes + first * 16, (const char*)a.in + (u64)r.token * bytes + first * 16, n);
  });
}

// push_quantised: a unit is 16 elements, which become 16 bytes; eight lanes have a scale in common.
template <class T>
__device__ __forceinline__ void push_quantised(const TokenArgs& a) {
  const u32 hidden = (u32)a.hidden;
  push(a, hidden / 16, [&](const Row& r, u32 first, u32 n) {
    char* const to = a.data[r.rank] + a.places.rows + (u64)r.at * hidden;
    float* const scales = (float*)(a.data[r.rank] + a.places.scales) + (u64)r.at * (hidden / kScaled);
    const T* const from = (const T*)a.in + (u64)r.token * hidden;
    for (u32 i = 0; i < n; i += 32) quantise(to, scales, from, first + i + lane(), i + lane() < n);
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
  else barrier(a.signals, a.context, blockIdx.x);
}
SYMM_KERNEL(token_dispatch)
