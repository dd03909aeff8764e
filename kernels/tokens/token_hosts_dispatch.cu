// token_hosts_dispatch: token_dispatch between hosts. Blocks copy 32 tokens at a time to the outbox
// and put the tokens that cross.
#include "tokens/collect.cuh"

using namespace symm;
using namespace tokens;

// ready waits until all ranks are done with the regions and inboxes to which this rank writes.
static __device__ __forceinline__ bool ready(const TokenHostsArgs& a, const NetGroup& g) {
  u32* const meetings = epochs(a.args, kMeetings);
  const u32 count = meetings[blockIdx.x] + 1;
  if (!meet_near(a, g)) return false;
  bool ok = true;
  if (blockIdx.x == 0)
    for (u32 i = threadIdx.x; ok && i < a.partners; i += blockDim.x) ok = raise(a, g, a.partner[i].rank, kReady, count);
  if (!__syncthreads_and(ok) || !all_came(a, g, kReady, count)) return false;
  if (threadIdx.x == 0) meetings[blockIdx.x] = count;
  return true;
}

// stage: a warp copies a token to the outbox, in the form that a dispatch sends.
static __device__ __forceinline__ void stage(const TokenArgs& a, const Rows& out, u64 t) {
  const u64 hidden = a.hidden;
  if (!(a.manner & kQuantise)) {
    move(out.at + t * payload(a), (const char*)a.in + t * payload(a), payload(a) / 16);
    return;
  }
  char* const row = out.at + t * hidden;
  float* const scales = out.scales + t * (hidden / kScaled);
  for (u32 u = lane(); u - lane() < hidden / 16; u += 32) {
    const bool active = u < hidden / 16;
    if (a.element == kTokenF32) quantise(row, scales, (const float*)a.in + t * hidden, u, active);
    else if (a.element == kTokenF16) quantise(row, scales, (const f16*)a.in + t * hidden, u, active);
    else quantise(row, scales, (const bf16*)a.in + t * hidden, u, active);
  }
}

// cross puts this rank's tokens to the partners that need them. It returns false if a thread gave
// up.
static __device__ __forceinline__ bool cross(const TokenHostsArgs& a, const NetGroup& g) {
  const TokenArgs& s = a.args;
  const i32* const chosen = s.notes.chosen;
  char* const mine = s.data[s.context.rank];
  const Rows out{mine + a.boxes.out, (float*)(mine + a.boxes.out_scales)};
  const u64 row = payload(s), scales = s.hidden / kScaled * sizeof(float);
  bool ok = true;
  for (u64 first = blockIdx.x * 32ull; first < s.tokens; first += gridDim.x * 32ull) {
    const u64 last = first + 32 < s.tokens ? first + 32 : s.tokens;
    for (u64 t = first + warp(); t < last; t += warps())
      if (any_expert(a, chosen, t, [&](u32 rank) { return !near(s, rank); })) stage(s, out, t);
    __syncthreads();
    for (u32 i = warp(); ok && i < a.partners; i += warps()) {
      const TokenPartner to = a.partner[i];
      const u64 place = to.place * s.max_tokens;
      ok = each_run(first, last, [&](u64 t) { return any_expert(a, chosen, t, [&](u32 rank) { return a.carrier[rank] == i; }); }, [&](u64 t, u32 n) {
        return put(a, g, to.rank, a.window, a.start + a.boxes.in + (place + t) * row, out.at + t * row, n * row) &&
               (!(s.manner & kQuantise) || put(a, g, to.rank, a.window, a.start + a.boxes.in_scales + (place + t) * scales, (char*)out.scales + t * scales, n * scales));
      });
    }
  }
  return ok;
}

extern "C" __global__ void __launch_bounds__(512) token_hosts_dispatch(const __grid_constant__ TokenHostsArgs a) {
  begin();
  const TokenArgs& s = a.args;
  if (s.notes.state[kVoid]) return;
  const NetGroup g = *a.net;
  if (s.manner & kMeet && !ready(a, g)) return;
  push_own(s, [&](u32 rank) { return near(s, rank); });
  bool ok = cross(a, g);
  if (!__syncthreads_and(ok)) return;
  if (last_block(a))
    for (u32 i = threadIdx.x; ok && i < a.partners; i += blockDim.x) {
      const TokenPartner to = a.partner[i];
      ok = put(a, g, to.rank, a.window, a.start + a.boxes.notes + to.place * a.boxes.note_bytes, s.notes.base, a.boxes.note_bytes) && raise(a, g, to.rank, kSent, epochs(s, kDispatches)[blockIdx.x] + 1);
    }
  if (__syncthreads_and(ok) && !(s.manner & kSplit)) collect(a, g);
}
SYMM_KERNEL(token_hosts_dispatch)
