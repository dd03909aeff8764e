// token_hosts_combine: token_combine between hosts, direct or by rails.
#include "tokens/collect.cuh"
#include "tokens/sums.cuh"
#include "symm/remote.cuh"

using namespace symm;
using namespace tokens;

// say_returned signals to all partners, for the count-th time, that the data of all this rank's
// puts to them is in place. It returns false if the thread gave up.
static __device__ __forceinline__ bool say_returned(const TokenHostsArgs& a, const NetGroup& g, u32 count) {
  bool ok = true;
  for (u32 i = threadIdx.x; ok && i < a.partners; i += blockDim.x) ok = raise(a, g, a.partner[i].rank, kReturned, count);
  return ok;
}

// put_rows puts the rows made here of other hosts' tokens into the slots at the ranks of these
// tokens. It returns false if the thread gave up.
static __device__ __forceinline__ bool put_rows(const TokenHostsArgs& a, const NetGroup& g, u32 bank, u64 bytes) {
  const TokenArgs& s = a.args;
  const u32 rows = by_expert(s) ? (u32)s.top_k : 1;
  const i32* const table = (const i32*)(s.data[s.context.rank] + s.places.table);
  bool ok = true;
  for (u32 i = 0; i < a.partners; i++) {
    const u32 owner = a.partner[i].rank;
    const u64 n = (u64)s.notes.state[kTokens + owner] * rows;
    for (u64 k = blockIdx.x * (u64)blockDim.x + threadIdx.x; ok && k < n; k += gridDim.x * (u64)blockDim.x) {
      const i32 row = table[owner * s.max_tokens * rows + k];
      if (row < 0) continue;
      const u64 slot = by_expert(s) ? k : k * copies(s) + (u32)s.context.rank;
      ok = put(a, g, owner, a.window, a.start + s.places.slots + (bank * s.max_tokens * copies(s) + slot) * bytes, (const char*)s.in + (u64)row * bytes, bytes);
    }
  }
  return ok;
}

template <class T>
static __device__ __forceinline__ void combine_direct(const TokenHostsArgs& a, const NetGroup& g) {
  const TokenArgs& s = a.args;
  const u64 bytes = s.hidden * sizeof(T);
  const u32 units = (u32)(bytes / 16);
  const Portion p = portion_of(s, units);
  u32* const combines = epochs(s, kCombines);
  const u32 epoch = combines[blockIdx.x], bank = epoch & 1;
  bool ok = put_rows(a, g, bank, bytes);
  if (!__syncthreads_and(ok)) return;
  const bool last = last_block(a);
  if (last) ok = say_returned(a, g, epoch + 1);
  each_part(p, units, [&](u32 t, u32 first, u32 n) {
    each_row(s, t, first, n, [&](u32 owner, u32 j, u64 row, u32 at, u32 count) {
      if (near(s, owner)) move(slot(s, owner, bank, t, j, bytes) + at * 16, (const char*)s.in + row * bytes + at * 16, count);
    });
  });
  if (!__syncthreads_and(ok) || !meet_near(a, g) || !all_came(a, g, kReturned, epoch + 1)) return;
  if (threadIdx.x == 0) combines[blockIdx.x] = epoch + 1;
  each_part(p, units, [&](u32 t, u32 first, u32 n) {
    if (t < s.tokens) sum<T>(s, bank, t, first, n, bytes);
  });
  if (last && threadIdx.x == 0) wait_posted(g, s.context);  // the rows may be overwritten
}

// near_total returns the total of the rows that the ranks of this host made of an origin's token.
template <class T>
static __device__ __forceinline__ Elements<float, 16 / sizeof(T)> near_total(const TokenHostsArgs& a, const Origin& o, const char* rows, u64 bytes, u32 t, u64 u) {
  const TokenArgs& s = a.args;
  const i32* const there = (by_expert(s) ? o.chosen : o.order) + (u64)t * copies(s);
  return total<T>(s, rows, bytes, u, nullptr, [&](u32 j) { return there[j] >= 0 && near(s, by_expert(s) ? (u32)there[j] / locals(s) : j); });
}

template <class T>
static __device__ __forceinline__ void combine_by_rails(const TokenHostsArgs& a, const NetGroup& g) {
  constexpr int kUnit = 16 / sizeof(T);
  typedef Elements<float, kUnit> Sum;
  const TokenArgs& s = a.args;
  const u64 bytes = s.hidden * sizeof(T), sum_bytes = s.hidden * sizeof(float);
  const u32 units = (u32)(bytes / 16);
  const Portion p = portion_of(s, units);
  u32* const combines = epochs(s, kCombines);
  const u32 epoch = combines[blockIdx.x], bank = epoch & 1;
  char* const mine = s.data[s.context.rank];
  auto of_partner = [&](u32 i, u32 t) { return (i * s.max_tokens + t) * copies(s) * bytes; };
  auto of_bank = [&](u64 place, u64 t) { return ((bank * a.partners + place) * s.max_tokens + t) * sum_bytes; };

  each_part(p, units, [&](u32 t, u32 first, u32 n) {
    each_row(s, t, first, n, [&](u32 owner, u32 j, u64 row, u32 at, u32 count) {
      char* const to = near(s, owner) ? slot(s, owner, bank, t, j, bytes) : s.data[a.relay[owner]] + a.boxes.slots + of_partner(a.carrier[owner], t) + j * bytes;
      move(to + at * 16, (const char*)s.in + row * bytes + at * 16, count);
    });
  });
  if (!meet_near(a, g)) return;
  for (u32 i = 0; i < a.partners; i++) {
    const Origin o = origin_of(a, i);
    each_part(p, units, [&](u32 t, u32 first, u32 n) {
      if (t >= o.tokens || !any_expert(a, o.chosen, t, [&](u32 rank) { return near(s, rank); })) return;
      SYMM_SHARE(u, n, threadIdx.x, blockDim.x)
        ((Sum*)(mine + a.boxes.out_sums + of_bank(i, t)))[first + u] = near_total<T>(a, o, mine + a.boxes.slots + of_partner(i, t), bytes, t, first + u);
    });
  }
  bool ok = true;
  if (last_block(a)) {
    for (u32 i = warp(); ok && i < a.partners; i += warps()) {
      const TokenPartner to = a.partner[i];
      const Origin o = origin_of(a, i);
      ok = each_run(0, o.tokens, [&](u64 t) { return any_expert(a, o.chosen, t, [&](u32 rank) { return near(s, rank); }); }, [&](u64 t, u32 n) {
        return put(a, g, to.rank, a.window, a.start + a.boxes.in_sums + of_bank(to.place, t), mine + a.boxes.out_sums + of_bank(i, t), n * sum_bytes);
      });
    }
    ok = __syncthreads_and(ok) && say_returned(a, g, epoch + 1);
  }
  if (!__syncthreads_and(ok) || !all_came(a, g, kReturned, epoch + 1)) return;
  if (threadIdx.x == 0) combines[blockIdx.x] = epoch + 1;

  const Origin own{(u32)s.context.rank, s.tokens, s.notes.chosen, s.notes.order, s.notes.base, s.notes.kept};
  each_part(p, units, [&](u32 t, u32 first, u32 n) {
    if (t >= s.tokens) return;
    SYMM_SHARE(u, n, threadIdx.x, blockDim.x) {
      Sum all = {};
      for (u32 i = 0; i <= a.partners; i++) {
        if (i == a.home) {
          const Sum x = near_total<T>(a, own, slot(s, own.rank, bank, t, 0, bytes), bytes, t, first + u);
          for (int v = 0; v < kUnit; v++) all.v[v] += x.v[v];
        }
        if (i == a.partners || !any_expert(a, own.chosen, t, [&](u32 rank) { return a.carrier[rank] == i; })) continue;
        const Sum x = ((const Sum*)(mine + a.boxes.in_sums + of_bank(i, t)))[first + u];
        for (int v = 0; v < kUnit; v++) all.v[v] += x.v[v];
      }
      ((Elements<T, kUnit>*)((char*)s.out + t * bytes))[first + u] = as<T>(all);
    }
  });
  meet_near(a, g);  // slots are free
}

template <class T>
static __device__ __forceinline__ void combine_tokens(const TokenHostsArgs& a) {
  const NetGroup g = *a.net;
  if (a.rails) combine_by_rails<T>(a, g);
  else combine_direct<T>(a, g);
}

extern "C" __global__ void __launch_bounds__(512) token_hosts_combine(const __grid_constant__ TokenHostsArgs a) {
  begin();
  if (a.args.notes.state[kVoid]) return;
  if (a.args.element == kTokenF32) combine_tokens<float>(a);
  else if (a.args.element == kTokenF16) combine_tokens<f16>(a);
  else combine_tokens<bf16>(a);
}
SYMM_KERNEL(token_hosts_combine)
