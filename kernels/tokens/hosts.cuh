// hosts.cuh: a token switch of ranks on several hosts.
//
// Ranks of one host store to each other as tokens.cuh has it. What is for other hosts goes by puts to partners, and there are two ways:
//
//   direct  every rank of another host is a partner, and gets what is for itself
//   rails   the counterpart on every other host is one, and gets what is for any rank of its host: a token crosses to a host once
//
//   counts    of a routing go to every rank of other hosts. All settle as within one host.
//   tokens    A dispatch copies those that cross to an outbox, and puts them to the same places of an inbox that the partner has for this
//             rank, tokens that lie side by side at once; and then its notes, which say which they are and where they go. A partner pushes
//             them as it does its own: to itself, or to its host. So places are the same as within one host.
//   sums      Direct, a combine puts rows into the slots of the ranks that the tokens came from, which sum as within one host. With rails, the
//             ranks of a host store what they made of a token in slots of the one that it crossed to; that adds them up, as float, and puts the
//             sum to the token's rank, which adds those of all hosts in the order of the hosts.
//
// Every rank has words in its pad that partners set: [TokenWord][source], each with a strong signal, which comes after everything that its
// rank put before. They count up, and the blocks count how far they have come. They are set and not added to because a GPU's copies set words,
// while additions take a kernel, which may find no room beside these. So nobody waits for room:
//
//   inboxes of tokens   belong to a region: who has another's counts of a routing knows that it is done with the region's last one. So it is with
//                       outboxes: the counts of the routing between say that what was put from there had arrived.
//   slots and sums      alternate from combine to combine, as slots do within a host: a rank ends a combine when the sums of all partners are
//                       there, which they sent when they were done with the combine before.
//   slots of rails      are met for once more at the end of a combine.
//
// A wait ends when any rank of the group is gone, since the one that it is for may wait for that.
#pragma once
#include "symm/net.cuh"
#include "tokens/tokens.cuh"

namespace tokens {

using namespace symm;

// TokenWord is what a word of the pad counts.
enum TokenWord : u32 { kCounted = 0, kReady = 1, kSent = 2, kReturned = 3, kTokenWords = 4 };
SYMM_VALUES(TokenWord, kCounted, kReady, kSent, kReturned, kTokenWords)

constexpr u16 kNobody = 0xffff;  // instead of a partner
SYMM_VALUES(TokenPartners, kNobody)

// TokenPartner is a rank on another host that this one exchanges tokens with. place is that of this rank among its partners.
struct TokenPartner {
  u16 rank, place;
};
SYMM_LAYOUT(TokenPartner, rank, place)

// TokenBoxes are places in every rank's data. Those by place are for the partner of that number.
struct TokenBoxes {
  u64 out, out_scales;     // [token]
  u64 in, in_scales;       // [place][token]
  u64 notes, note_bytes;   // [place]: of a partner, as TokenNotes from base to kept
  u64 slots;               // of rails: [place][token][selection or rank]
  u64 out_sums, in_sums;   // of rails: [bank][place][token]
};
SYMM_LAYOUT(TokenBoxes, out, out_scales, in, in_scales, notes, note_bytes, slots, out_sums, in_sums)

// TokenHostsArgs are the arguments of the kernels of a switch between hosts. args.data and the pads are 0 of ranks on other hosts.
struct TokenHostsArgs {
  TokenArgs args;
  const NetGroup* net;
  u64 start;                        // of the data in its window
  u64 words;                        // in the pad
  u64 ticket;                       // in the pad: how many blocks have come so far
  TokenBoxes boxes;
  u32 window;                       // of the data; that of the pads is the next one
  u32 rails;                        // not 0: that way
  u32 partners;                     // in the order of their hosts
  u32 home;                         // how many partners are on hosts before this one
  TokenPartner partner[kMaxRanks];
  u16 carrier[kMaxRanks];           // by rank: the number of the partner that gets what is for it; kNobody of ranks on this host
  u16 relay[kMaxRanks];             // of rails, by rank of another host: the rank on this one whose partner it is
};
SYMM_LAYOUT(TokenHostsArgs, args, net, start, words, ticket, boxes, window, rails, partners, home, partner, carrier, relay)
static_assert(sizeof(TokenHostsArgs) <= 4096, "fits the parameters of a kernel");

// word_at is where a word of a source lies in a pad.
__device__ __forceinline__ u64 word_at(const TokenHostsArgs& a, TokenWord word, u32 source) { return a.words + 8 * (word * (u64)a.args.context.ranks() + source); }

// put: one thread puts n bytes to a rank's window, after what it and those that it has met wrote. False if it gave up.
__device__ inline bool put(const TokenHostsArgs& a, const NetGroup& g, u32 to, u32 window, u64 at, const void* from, u64 n) {
  fence();
  NetOp op = {};
  op.kind = kNetPut;
  op.peer = g.members[to].rank;
  op.local = (u64)from;
  op.window = window;
  op.offset = at;
  op.bytes = n;
  return post(g.port, a.args.context, to, op, nullptr);
}

// raise: one thread sets a word of a rank to its next count when everything that this one put there before is in place. False if it gave up.
__device__ inline bool raise(const TokenHostsArgs& a, const NetGroup& g, u32 to, TokenWord word, u32 count) {
  NetOp op = {};
  op.kind = kNetPut;
  op.peer = g.members[to].rank;
  op.signal = kNetSetWord;
  op.strong = 1;
  op.signal_window = a.window + 1;
  op.signal_at = word_at(a, word, (u32)a.args.context.rank);
  op.value = count;
  return post(g.port, a.args.context, to, op, nullptr);
}

// all_came: the block waits until a word of every partner, or of every rank of other hosts if it is kCounted, has come to a count. False if it gave up.
__device__ inline bool all_came(const TokenHostsArgs& a, const NetGroup& g, TokenWord word, u32 count) {
  const Context& c = a.args.context;
  const u32 n = word == kCounted ? (u32)c.ranks() : a.partners;
  bool ok = true;
  for (u32 i = threadIdx.x; ok && i < n; i += blockDim.x) {
    const u32 from = word == kCounted ? i : a.partner[i].rank;
    if (near(a.args, from)) continue;
    const u64* const at = (const u64*)((char*)a.args.signals.block[c.rank] + word_at(a, word, from));
    ok = net_wait<u64>(g, c, at, count, kAtLeast, kAnyMember, Wait{kNetTokens, from, word, count});
  }
  return __syncthreads_and(ok);
}

// meet_near: the blocks of one index of the ranks of a host meet, as by barrier.cuh. False if it gave up.
__device__ inline bool meet_near(const TokenHostsArgs& a, const NetGroup& g) {
  const Context& c = a.args.context;
  const Signals& s = a.args.signals;
  u32* const count = rounds(s, c, blockIdx.x);
  __syncthreads();
  const u32 round = load_relaxed(count) + 1;
  fence();
  bool ok = true;
  for (u32 p = threadIdx.x; p < (u32)c.ranks(); p += blockDim.x)
    if (near(a.args, p) && (int)p != c.rank) store_relaxed(arrival(s, c, (int)p, blockIdx.x, c.rank), round);
  for (u32 p = threadIdx.x; ok && p < (u32)c.ranks(); p += blockDim.x)
    if (near(a.args, p) && (int)p != c.rank)
      ok = net_wait<u32>(g, c, arrival(s, c, c.rank, blockIdx.x, (int)p), round, kRound, kAnyMember, Wait{kNetBarrier, p, blockIdx.x, round});
  ok = __syncthreads_and(ok);
  if (threadIdx.x == 0 && ok) store_relaxed(count, round);
  return ok;
}

// last_block tells the last block that comes to it, which sees what the others did before.
__device__ inline bool last_block(const TokenHostsArgs& a) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32* const ticket = (u32*)((char*)a.args.signals.block[a.args.context.rank] + a.ticket);
    fence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    if (last) store_relaxed(ticket, 0u);
    fence();
  }
  __syncthreads();
  return last;
}

// serves tells whether what comes from partners for a rank goes there by this one.
__device__ __forceinline__ bool serves(const TokenHostsArgs& a, u32 rank) {
  return a.rails ? near(a.args, rank) : (int)rank == a.args.context.rank;
}

// any_expert tells whether the rank of an expert of token t satisfies f.
template <class F>
__device__ __forceinline__ bool any_expert(const TokenHostsArgs& a, const i32* chosen, u64 t, F f) {
  const u32 k = (u32)a.args.top_k;
  for (u32 j = 0; j < k; j++) {
    const i32 e = chosen[t * k + j];
    if (e >= 0 && f((u32)e / locals(a.args))) return true;
  }
  return false;
}

// each_run: a warp calls f(t, n), in one lane, for tokens t to t + n - 1 among those from first to last that satisfy `crosses`, side by side and at most
// 32 at a time. f returns false if it gave up, and so does each_run then.
template <class Crosses, class F>
__device__ __forceinline__ bool each_run(u64 first, u64 last, Crosses crosses, F f) {
  for (; first < last; first += 32) {
    u32 left = __ballot_sync(~0u, first + lane() < last && crosses(first + lane()));
    bool ok = true;
    while (left && ok) {
      const u32 at = (u32)__ffs((int)left) - 1, hole = ~(left >> at), n = hole ? (u32)__ffs((int)hole) - 1 : 32;
      if (lane() == 0) ok = f(first + at, n);
      ok = __all_sync(~0u, ok);
      left &= ~(u32)(((1ull << n) - 1) << at);
    }
    if (!ok) return false;
  }
  return true;
}

}  // namespace tokens
