// tokens.cuh: types and functions that the kernels of a token switch share.
//
// A token switch sends rows of hidden values, the tokens, to the ranks that hold the experts chosen
// by a router, and sums the rows that these ranks return. Its memory is one block in each rank. The
// block holds a pad, which Recover clears, and data. The pad has the signals of symm/signal.cuh,
// epochs and an inbox. The data begins with two regions for the rows that dispatches deliver.
// Beside the block every rank has notes of its own for each region.
//
//   token_routing    counts, sends the counts to all ranks, and decides where every row goes
//   token_dispatch   stores rows in their places at other ranks, once for each rank, which copies
//                    them to its further experts
//   token_wait       the end of a dispatch whose kernel did not wait
//   token_combine    stores the rows that experts made in slots of the ranks that the tokens came
//                    from, and sums them there
//
// A rank that has received another rank's counts of a routing may write into the other's region for
// that routing: the other has reached the same routing, so it no longer uses the earlier data of
// the region. Therefore the first dispatch of a routing begins without a barrier. Slots alternate
// from combine to combine: a rank that writes into slots in combine n has met all ranks in combine
// n-1, so all of them have read the slots of combine n-2.
//
// Between hosts the kernels are token_hosts_routing and so on: hosts.cuh describes them.
//
// Places follow from the counts and from the order of tokens and selections, so that they are the
// same on every run.
#pragma once
#include "reduce/reduce.cuh"

namespace tokens {

// TokenLayout is the layout of the rows that a dispatch delivers. Layouts by expert have a row for
// each selection, layouts by rank have one for each token and rank.
enum TokenLayout : symm::u64 {
  kExpertMajor = 0,  // [local expert][rank * token]: the rows of an expert lie packed, by source
  kRankMajor = 1,    // [source][token]: the rows of a source lie packed
  kFlat = 2,         // [row]: packed, by source
  kZones = 3         // [row]: by local expert, then source; an expert's rows begin at a multiple of align
};
SYMM_VALUES(TokenLayout, kExpertMajor, kRankMajor, kFlat, kZones)

// TokenElement is the type of tokens.
enum TokenElement : symm::u64 { kTokenF16 = 0, kTokenBF16 = 1, kTokenF32 = 2 };
SYMM_VALUES(TokenElement, kTokenF16, kTokenBF16, kTokenF32)

// TokenRefused are the reasons for which a routing is refused.
enum TokenRefused : symm::u32 { kExpert = 16, kTwice = 17, kRoom = 18 };
SYMM_VALUES(TokenRefused, kExpert, kTwice, kRoom)

// TokenManner are the options of a dispatch, one bit each.
enum TokenManner : symm::u64 {
  kMeet = 1,     // meet first: the region may be in use
  kSplit = 2,    // do not wait: token_wait does
  kQuantise = 4  // rows are f8e4m3 with scales
};
SYMM_VALUES(TokenManner, kMeet, kSplit, kQuantise)

// TokenState names the words of TokenNotes.state: whether the routing was refused, the largest
// number of tokens of any rank, and the number of tokens of each rank.
enum TokenState { kVoid = 0, kMost = 1, kTokens = 2 };

// TokenEpoch names the counts of every block.
enum TokenEpoch { kRoutings = 0, kCombines = 1, kDispatches = 2, kMeetings = 3, kTokenEpochs = 4 };
SYMM_VALUES(TokenEpoch, kTokenEpochs)

constexpr int kScaled = 128;  // elements that share a scale
SYMM_VALUES(TokenScale, kScaled)

// TokenPlaces are offsets in every rank's data that the calls of a routing use.
struct TokenPlaces {
  symm::u64 scales, weights, index;
  symm::u64 table;  // the row of each [source][token][selection], or of each [source][token]; -1: none
  symm::u64 slots;  // [bank][token][selection or rank], shared by all routings
};
SYMM_LAYOUT(TokenPlaces, scales, weights, index, table, slots)

// TokenNotes are the notes that a rank keeps of a routing.
struct TokenNotes {
  symm::i32* state;
  symm::i32* base;     // by expert or rank: the row of this rank's first token there; partners on other hosts
                       // get the notes from base to kept
  symm::i32* chosen;   // [token][top_k]: the experts
  symm::i32* order;    // place of [token][selection] among this rank's tokens for the expert, or of
                       // [token][rank] among its tokens for the rank; -1: none
  float* kept;         // [token][top_k]: weights, for the combine
  symm::i32* all;      // [source][expert or rank]: the counts of all ranks
  symm::i32* counts;   // of rows received, by local expert or source
  symm::i32* offsets;  // with kZones: the row where each local expert begins, and the end
};
SYMM_LAYOUT(TokenNotes, state, base, chosen, order, kept, all, counts, offsets)

struct TokenArgs {
  symm::Context context;   // channels: the grid's blocks
  symm::Signals signals;   // the pads of the switch
  char* data[symm::kMaxRanks];
  char* rows[symm::kMaxRanks];  // the rows that a dispatch delivers
  symm::u64 epochs;        // in the pad: [TokenEpoch][block]
  symm::u64 inbox;         // in the pad: [bank][source][item]
  symm::u64 layout, element, manner;
  symm::u64 experts, top_k, max_tokens, max_recv, align;
  symm::u64 tokens;        // number of tokens of this rank
  symm::u64 hidden;        // elements of a token
  TokenPlaces places;
  TokenNotes notes;
  const symm::i64* top;    // [token][top_k]: the experts chosen, -1: none
  const void* in;          // of a dispatch: [token]; of a combine: rows
  void* out;               // [token] of a combine
  const float* given;      // weights of a dispatch: [token][top_k]
};
SYMM_LAYOUT(TokenArgs, context, signals, data, rows, epochs, inbox, layout, element, manner, experts, top_k, max_tokens, max_recv, align, tokens, hidden, places, notes, top, in, out, given)

// epochs returns one of the counts, for all blocks.
__device__ __forceinline__ symm::u32* epochs(const TokenArgs& a, TokenEpoch of) {
  return (symm::u32*)((char*)a.signals.block[a.context.rank] + a.epochs) + of * gridDim.x;
}

// near reports whether the memory of a rank is mapped.
__device__ __forceinline__ bool near(const TokenArgs& a, symm::u32 rank) { return a.data[rank] != nullptr; }

__device__ __forceinline__ bool by_expert(const TokenArgs& a) { return a.layout == kExpertMajor || a.layout == kZones; }

// locals returns the number of experts of a rank.
__device__ __forceinline__ symm::u32 locals(const TokenArgs& a) { return (symm::u32)a.experts / (symm::u32)a.context.ranks(); }

// items returns the number of counts of a rank: one for each expert, or for each rank.
__device__ __forceinline__ symm::u32 items(const TokenArgs& a) { return by_expert(a) ? (symm::u32)a.experts : (symm::u32)a.context.ranks(); }

// copies returns the maximum number of rows of a token.
__device__ __forceinline__ symm::u32 copies(const TokenArgs& a) { return by_expert(a) ? (symm::u32)a.top_k : (symm::u32)a.context.ranks(); }

__device__ __forceinline__ symm::u32 element_bytes(const TokenArgs& a) { return a.element == kTokenF32 ? 4 : 2; }

// warp returns the number of this warp in its block, and warps the number of warps.
__device__ __forceinline__ symm::u32 warp() { return threadIdx.x >> 5; }
__device__ __forceinline__ symm::u32 warps() { return blockDim.x >> 5; }
__device__ __forceinline__ symm::u32 lane() { return threadIdx.x & 31; }

// move: a warp copies n units of 16 bytes.
__device__ __forceinline__ void move(char* to, const char* from, symm::u32 n) {
  using namespace symm;
#ifdef SYMM_CPU
  SYMM_SHARE(i, n, lane(), 32) ((u128*)to)[i] = ((const u128*)from)[i];
#else
  constexpr u32 kDeep = 8;  // loads at a time
  for (u32 i = lane(); i < n; i += kDeep * 32) {
    u128 w[kDeep];
#pragma unroll
    for (u32 k = 0; k < kDeep; k++)
      if (i + k * 32 < n) w[k] = ((const u128*)from)[i + k * 32];
#pragma unroll
    for (u32 k = 0; k < kDeep; k++)
      if (i + k * 32 < n) ((u128*)to)[i + k * 32] = w[k];
  }
#endif
}

// Portion is the part of the tokens that a block works on: the same on all ranks, whatever tokens
// they have, so that a block depends only on the blocks with its index on other ranks.
struct Portion {
  symm::u32 parts, part;  // parts of a token, and the number of this block's part; of several parts
                          // each is a multiple of 32 units of 16 bytes
  symm::u64 count;        // parts of all tokens, which the blocks take in turns
};

// portion_of returns this block's portion, for tokens of the given number of units.
__device__ __forceinline__ Portion portion_of(const TokenArgs& a, symm::u32 units) {
  const symm::u32 most = (symm::u32)a.notes.state[kMost];
  Portion s;
  s.parts = most ? gridDim.x / most : 1;
  if (s.parts > units / 32) s.parts = units / 32;
  if (s.parts < 1) s.parts = 1;
  s.part = ((units + s.parts - 1) / s.parts + 31) & ~31u;
  s.count = (symm::u64)most * s.parts;
  return s;
}

// each_part calls f(t, first, n) for each of this block's parts of tokens: n units of token t, from
// unit first on.
template <class F>
__device__ __forceinline__ void each_part(const Portion& s, symm::u32 units, F f) {
  for (symm::u64 i = blockIdx.x; i < s.count; i += gridDim.x) {
    const symm::u32 first = (symm::u32)(i % s.parts) * s.part;
    if (first < units) f((symm::u32)(i / s.parts), first, first + s.part < units ? s.part : units - first);
  }
}

// each_piece calls f(row, first, n) in the warps of a block, for pieces of each of the given number
// of rows: n units from unit first on.
template <class F>
__device__ __forceinline__ void each_piece(symm::u32 rows, symm::u32 first, symm::u32 n, F f) {
  using namespace symm;
  u32 pieces = (2 * warps() + rows - 1) / rows;
  if (pieces > (n + 31) / 32) pieces = (n + 31) / 32;
  const u32 piece = ((n + pieces - 1) / pieces + 31) & ~31u;
  for (u32 i = warp(); i < rows * pieces; i += warps()) {
    const u32 at = i / rows * piece;
    if (at < n) f(i % rows, first + at, at + piece < n ? piece : n - at);
  }
}

// payload returns the number of bytes of a row that a dispatch delivers.
__device__ __forceinline__ symm::u32 payload(const TokenArgs& a) { return (symm::u32)a.hidden * (a.manner & kQuantise ? 1 : element_bytes(a)); }

// Rows are rows that dispatches send, with their scales if they have any.
struct Rows {
  char* at;
  float* scales;
};

// copy_part: a warp copies n units of a row, from unit first on, with their scales.
__device__ __forceinline__ void copy_part(const TokenArgs& a, const Rows& to, symm::u64 row, const Rows& from, symm::u64 source, symm::u32 first, symm::u32 n) {
  using namespace symm;
  const u64 bytes = payload(a);
  move(to.at + row * bytes + first * 16, from.at + source * bytes + first * 16, n);
  if (!(a.manner & kQuantise)) return;
  const u32 all = (u32)a.hidden / kScaled;
  for (u32 i = first / 8 + lane(); i < (first + n) / 8; i += 32) to.scales[row * all + i] = from.scales[source * all + i];
}

// delivered returns the rows at a rank that dispatches deliver to.
__device__ __forceinline__ Rows delivered(const TokenArgs& a, symm::u32 rank) {
  return Rows{a.rows[rank], (float*)(a.data[rank] + a.places.scales)};
}

// replicate copies each token from the row that it was sent to into the rows of its other experts
// on this rank: a token is sent once to each rank.
__device__ __forceinline__ void replicate(const TokenArgs& a) {
  using namespace symm;
  const u32 units = payload(a) / 16, ranks = (u32)a.context.ranks(), k = (u32)a.top_k;
  char* const mine = a.data[a.context.rank];
  const Rows rows = delivered(a, (u32)a.context.rank);
  each_part(portion_of(a, units), units, [&](u32 t, u32 first, u32 n) {
    each_piece(ranks * k, first, n, [&](u32 row, u32 at, u32 count) {
      const u32 source = row % ranks, j = row / ranks;
      if (t >= (u32)a.notes.state[kTokens + source]) return;
      const i32* const entries = (const i32*)(mine + a.places.table) + (source * a.max_tokens + t) * k;
      const i32 to = entries[j];
      if (to < 0) return;
      i32 from = -1;
      for (u32 i = 0; i < j && from < 0; i++) from = entries[i];
      if (from < 0) return;
      copy_part(a, rows, (u32)to, rows, (u32)from, at, count);
    });
  });
}

}  // namespace tokens
