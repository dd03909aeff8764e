// hosts.cuh: a token switch of ranks on several hosts.
//
// Ranks of one host store to each other as in tokens.cuh. Data for other hosts goes to partners by
// puts, in one of two ways:
//
//   direct     every rank of another host is a partner, and gets its own data
//   rails      the counterpart on every other host is a partner, and gets the data for all ranks of
//              its host: a token crosses to a host once
//
// The steps are
//
//   counts     The counts of a routing go to every rank of other hosts. All ranks decide on places
//              as within one host.
//   tokens     A dispatch copies the tokens that cross to an outbox, and puts them to the same
//              places of an inbox that the partner has for this rank; tokens that lie side by side
//              go by one put. Then it puts its notes, which describe which tokens these are and
//              where they go. The partner pushes them as it pushes its own tokens: to itself, or to
//              the ranks of its host. So places are the same as within one host.
//   sums       With direct partners, a combine puts rows into the slots of the ranks that the
//              tokens came from, which sum as within one host. With rails, the ranks of a host
//              store the rows that they made of a token in slots of the rank to which the token
//              crossed. That rank adds them up, as float, and puts the sum to the token's own rank,
//              which adds the sums of all hosts in the order of the hosts.
//
// Every rank has words in its pad that partners set: [TokenWord][source]. A partner sets a word by
// a strong signal, which arrives after all its earlier puts. The words count up, and the blocks
// count how far they have come. Partners set the words instead of adding to them because a GPU's
// copies can set words, while an addition needs a kernel, which may find no room beside these
// kernels. For these reasons no rank waits for free space:
//
//   inboxes of tokens   belong to a region. A rank that has received a partner's counts of a
//                       routing knows that the partner no longer uses the region's last routing.
//                       The same holds for outboxes: the counts of the routing between mean that
//                       the puts from there had arrived.
//   slots and sums      alternate from combine to combine, as slots do within a host. A rank ends a
//                       combine when the sums of all partners have arrived; a partner sends them
//                       when it is done with the combine before.
//   slots of rails      are protected by one more barrier at the end of a combine.
//
// A wait ends when any rank of the group is gone, because the rank that it waits for may in turn
// wait for the lost one.
#pragma once
#include "symm/net.cuh"
#include "tokens/tokens.cuh"

namespace tokens {

using namespace symm;

// TokenWord names the counts in the words of the pad.
enum TokenWord : u32 { kCounted = 0, kReady = 1, kSent = 2, kReturned = 3, kTokenWords = 4 };
SYMM_VALUES(TokenWord, kCounted, kReady, kSent, kReturned, kTokenWords)

constexpr u16 kNobody = 0xffff;  // no partner
SYMM_VALUES(TokenPartners, kNobody)

// TokenPartner is a rank on another host that this one exchanges tokens with. place is this rank's
// place among the partners of that rank.
struct TokenPartner {
  u16 rank, place;
};
SYMM_LAYOUT(TokenPartner, rank, place)

// TokenBoxes are offsets in every rank's data. Boxes indexed by place belong to the partner with
// that number.
struct TokenBoxes {
  u64 out, out_scales;     // [token]
  u64 in, in_scales;       // [place][token]
  u64 notes, note_bytes;   // [place]: a partner's TokenNotes, from base to kept
  u64 slots;               // with rails: [place][token][selection or rank]
  u64 out_sums, in_sums;   // with rails: [bank][place][token]
};
SYMM_LAYOUT(TokenBoxes, out, out_scales, in, in_scales, notes, note_bytes, slots, out_sums, in_sums)

// TokenHostsArgs are the arguments of the kernels of a switch between hosts. args.data and the pads
// are 0 for ranks on other hosts.
struct TokenHostsArgs {
  TokenArgs args;
  const NetGroup* net;
  u64 start;                        // offset of the data in its window
  u64 words;                        // in the pad
  u64 ticket;                       // in the pad: the number of blocks that have arrived so far
  TokenBoxes boxes;
  u32 window;                       // ID of the data's window; the pads' window has the next ID
  u32 rails;                        // not 0: by rails
  u32 partners;                     // number of partners, which are in the order of their hosts
  u32 home;                         // number of partners on hosts before this one
  TokenPartner partner[kMaxRanks];
  u16 carrier[kMaxRanks];           // by rank: the number of the partner that gets the rank's data; kNobody
                                    // for ranks on this host
  u16 relay[kMaxRanks];             // with rails, by rank of another host: its partner on this host
};
SYMM_LAYOUT(TokenHostsArgs, args, net, start, words, ticket, boxes, window, rails, partners, home, partner, carrier, relay)
static_assert(sizeof(TokenHostsArgs) <= 4096, "fits the parameters of a kernel");

// word_at returns the offset of a source's word in a pad.
__device__ __forceinline__ u64 word_at(const TokenHostsArgs& a, TokenWord word, u32 source) { return a.words + 8 * (word * (u64)a.args.context.ranks() + source); }

// put: one thread puts n bytes to a rank's window, after its own writes and the writes of the
// threads that it has synchronised with. It returns false if it gave up.
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

// raise: one thread sets a word of a rank to its next count when the data of all earlier puts to
// that rank is in place. It returns false if it gave up.
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

// all_came: the block waits until the word of every partner has come to a count; for kCounted, the
// word of every rank of other hosts. It returns false if it gave up.
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

// meet_near: the blocks with the same index of the ranks of a host meet, by the protocol of
// barrier.cuh. It returns false if it gave up.
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

// last_block returns true in the last block that calls it. That block sees the earlier writes of
// the others.
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

// serves reports whether this rank passes on the data that partners send for a rank.
__device__ __forceinline__ bool serves(const TokenHostsArgs& a, u32 rank) {
  return a.rails ? near(a.args, rank) : (int)rank == a.args.context.rank;
}

// any_expert reports whether the rank of any expert of token t satisfies f.
template <class F>
__device__ __forceinline__ bool any_expert(const TokenHostsArgs& a, const i32* chosen, u64 t, F f) {
  const u32 k = (u32)a.args.top_k;
  for (u32 j = 0; j < k; j++) {
    const i32 e = chosen[t * k + j];
    if (e >= 0 && f((u32)e / locals(a.args))) return true;
  }
  return false;
}

// each_run: a warp finds the tokens from first to last that satisfy `crosses`, and calls f(t, n),
// in one lane, for each run of such tokens t to t + n - 1. A run has at most 32 tokens. f returns
// false if it gave up; each_run then returns false too.
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
