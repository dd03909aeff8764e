// collect.cuh: the end of a dispatch between hosts.
#pragma once
#include "tokens/hosts.cuh"
#include "tokens/push.cuh"

namespace tokens {

// origin_of returns a partner's tokens, from the notes that the partner put here.
__device__ __forceinline__ Origin origin_of(const TokenHostsArgs& a, u32 i) {
  const TokenArgs& s = a.args;
  const i64 to = (i64)(s.data[s.context.rank] + a.boxes.notes + i * a.boxes.note_bytes) - (i64)s.notes.base;
  auto moved = [&](const void* p) { return (const char*)p + to; };
  const u32 rank = a.partner[i].rank;
  return Origin{rank, (u64)s.notes.state[kTokens + rank], (const i32*)moved(s.notes.chosen), (const i32*)moved(s.notes.order), (const i32*)moved(s.notes.base), (const float*)moved(s.notes.kept)};
}

// collect waits for the tokens of all partners and pushes them; then the ranks of the host meet.
__device__ inline void collect(const TokenHostsArgs& a, const NetGroup& g) {
  const TokenArgs& s = a.args;
  u32* const dispatches = epochs(s, kDispatches);
  const u32 count = dispatches[blockIdx.x] + 1;
  if (!all_came(a, g, kSent, count)) return;
  if (threadIdx.x == 0) dispatches[blockIdx.x] = count;
  char* const mine = s.data[s.context.rank];
  for (u32 i = 0; i < a.partners; i++) {
    const u64 first = i * s.max_tokens;
    const Rows from{mine + a.boxes.in + first * payload(s), (float*)(mine + a.boxes.in_scales) + first * (s.hidden / kScaled)};
    push(s, origin_of(a, i), [&](u32 rank) { return serves(a, rank); }, [&](const Target& to, u32 t, u32 at, u32 n) {
      copy_part(s, delivered(s, (u32)to.rank), (u32)to.row, from, t, at, n);
    });
  }
  if (meet_near(a, g) && by_expert(s)) replicate(s);
}

}  // namespace tokens
