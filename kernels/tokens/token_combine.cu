// token_combine: every block takes the same tokens, or parts of tokens, of all ranks. It stores the rows that experts of this rank made of them
// in slots of the ranks that the tokens came from, meets the blocks of its index, and sums what they stored in its own rank's slots:
// in the order of the selections, or of the ranks, as float.
#include "tokens/tokens.cuh"

using namespace symm;
using namespace tokens;

// slot is where rank owner gets row j of a token.
__device__ __forceinline__ char* slot(const TokenArgs& a, u32 owner, u32 bank, u32 t, u32 j, u64 bytes) {
  return a.data[owner] + a.places.slots + ((bank * a.max_tokens + t) * copies(a) + j) * bytes;
}

// give_back stores part of the rows that tokens t of all ranks have here.
__device__ __forceinline__ void give_back(const TokenArgs& a, u32 bank, u32 t, u32 first, u32 n, u64 bytes) {
  const u32 ranks = (u32)a.context.ranks(), rows = by_expert(a) ? (u32)a.top_k : 1;
  const i32* const table = (const i32*)(a.data[a.context.rank] + a.places.table);
  each_piece(ranks * rows, first, n, [&](u32 i, u32 at, u32 count) {
    const u32 to = (u32)neighbour(a.context, 1 + (int)(i % ranks)), k = i / ranks;
    if (t >= (u32)a.notes.state[kTokens + to]) return;
    const i32 row = table[(to * a.max_tokens + t) * rows + k];
    if (row < 0) return;
    move(slot(a, to, bank, t, by_expert(a) ? k : (u32)a.context.rank, bytes) + at * 16, (const char*)a.in + (u64)row * bytes + at * 16, count);
  });
}

// sum adds part of the rows of this rank's token t.
template <class T>
__device__ __forceinline__ void sum(const TokenArgs& a, u32 bank, u32 t, u32 first, u32 n, u64 bytes) {
  constexpr int kUnit = 16 / sizeof(T);
  typedef Elements<T, kUnit> Unit;
  const u32 rows = copies(a);
  const char* const from = slot(a, (u32)a.context.rank, bank, t, 0, bytes);
  const i32* const there = (by_expert(a) ? a.notes.chosen : a.notes.order) + (u64)t * rows;
  SYMM_SHARE(i, n, threadIdx.x, blockDim.x) {
    Elements<float, kUnit> total = {};
    for (u32 j = 0; j < rows; j += kTogether) {
      Unit next[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; k++)
        if (j + k < rows && there[j + k] >= 0) next[k] = ((const Unit*)(from + (j + k) * bytes))[first + i];
#pragma unroll
      for (int k = 0; k < kTogether; k++) {
        if (j + k >= rows || there[j + k] < 0) continue;
        const float weight = a.layout == kExpertMajor ? a.notes.kept[t * a.top_k + j + k] : 1.0f;
        const Elements<float, kUnit> x = as<float>(next[k]);
#pragma unroll
        for (int v = 0; v < kUnit; v++) total.v[v] += weight * x.v[v];
      }
    }
    ((Unit*)((char*)a.out + t * bytes))[first + i] = as<T>(total);
  }
}

template <class T>
__device__ __forceinline__ void combine_tokens(const TokenArgs& a) {
  const u64 bytes = a.hidden * sizeof(T);
  const u32 units = (u32)(bytes / 16);
  const Portion s = portion_of(a, units);
  u32* const epochs = (u32*)((char*)a.signals.block[a.context.rank] + a.epochs) + gridDim.x;
  const u32 epoch = epochs[blockIdx.x], bank = epoch & 1;
  each_part(s, units, [&](u32 t, u32 first, u32 n) { give_back(a, bank, t, first, n, bytes); });
  if (!barrier(a.signals, a.context, blockIdx.x)) return;
  if (threadIdx.x == 0) epochs[blockIdx.x] = epoch + 1;
  each_part(s, units, [&](u32 t, u32 first, u32 n) {
    if (t < a.tokens) sum<T>(a, bank, t, first, n, bytes);
  });
}

extern "C" __global__ void __launch_bounds__(512) token_combine(const __grid_constant__ TokenArgs a) {
  begin();
  if (a.notes.state[kVoid]) return;
  if (a.element == kTokenF32) combine_tokens<float>(a);
  else if (a.element == kTokenF16) combine_tokens<f16>(a);
  else combine_tokens<bf16>(a);
}
SYMM_KERNEL(token_combine)
