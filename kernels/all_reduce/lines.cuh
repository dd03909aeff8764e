// lines.cuh: two_shot_lines moves elements as lines (symm/line.cuh has the protocol).
//
// Grids, blocks, epochs and inboxes are as in packets.cuh, with a warp in place of a thread. A
// thread may have several pieces in an epoch, one in each turn: it sends all its pieces before it
// waits for the first one from its peers.
#pragma once
#include "packets/packets.cuh"

namespace symm {

constexpr int kLineThreads = 1024;
SYMM_VALUES(Lines, kLineThreads)

struct LineArgs {
  Context context;
  const void* in;
  void* out;
  u64 n;                    // elements
  u64 op;                   // ReduceOp
  u64 pieces;               // number of pieces of a slice: a multiple of 32
  u64 turns;                // maximum number of pieces of a thread in an epoch
  u64 slots;                // pieces in a block's inbox by source and epoch: at least turns * blockDim.x
  u32* epochs;              // one word for each block, in this rank's memory
  Piece* inbox[kMaxRanks];  // by rank: [block][bank][source][slots]
};
SYMM_LAYOUT(LineArgs, context, in, out, n, op, pieces, turns, slots, epochs, inbox)

// Share holds the elements of a piece, two units of 8 bytes, as values of type A. In the tensor
// they are stored as T. The eighth of eight lanes has only the first unit. In the tensor the first
// units of a warp lie side by side, followed by its second units.
template <class T, class A = T> struct Share {
  static constexpr int kCount = 8 / sizeof(T);
  Elements<A, kCount> unit[2];
};

__device__ __forceinline__ int units() { return carries_epoch() ? 1 : 2; }

// spot is the place of the k-th unit of piece i, counted from the tensor's start. An eighth lane
// has no second unit; spot then returns the place of the first one, so that a load needs no test.
__device__ __forceinline__ u64 spot(u64 i, int k) {
  const u32 lane = (u32)i & 31;
  return (i >> 5) * 60 + (k == 0 || (lane & 7) == 7 ? lane : 32 + lane - (lane >> 3));
}

// whole reports whether the pieces of i's warp are full and their units aligned at p.
template <class T> __device__ __forceinline__ bool whole(const void* p, u64 i, u64 n) {
  return ((u64)p & 7) == 0 && ((i >> 5) + 1) * 60 * Share<T>::kCount <= n;
}

// take_share_slowly and put_share_slowly are not inlined, so that the code of the common case stays
// together.
template <class T> __device__ __noinline__ Share<T> take_share_slowly(const T* in, u64 i, u64 n) {
  Share<T> s = {};
#pragma unroll
  for (int k = 0; k < 2; k++)
    if (k < units()) s.unit[k] = load<T, Share<T>::kCount>(in, spot(i, k), n, false);
  return s;
}
template <class T> __device__ __noinline__ void put_share_slowly(T* out, u64 i, u64 n, Share<T> s) {
#pragma unroll
  for (int k = 0; k < 2; k++)
    if (k < units()) store<T, Share<T>::kCount>(out, spot(i, k), n, false, s.unit[k]);
}

// take_share reads piece i, with zeros beyond n. If quick is set, the loads do not wait for each
// other.
template <class T> __device__ __forceinline__ Share<T> take_share(const T* in, u64 i, u64 n, bool quick) {
  if (!quick) return take_share_slowly(in, i, n);
  typedef Elements<T, Share<T>::kCount> Unit;
  Share<T> s;
#pragma unroll
  for (int k = 0; k < 2; k++) s.unit[k] = ((const Unit*)in)[spot(i, k)];
  return s;
}
template <class T> __device__ __forceinline__ void put_share(T* out, u64 i, u64 n, bool quick, const Share<T>& s) {
  if (!quick) return put_share_slowly(out, i, n, s);
  typedef Elements<T, Share<T>::kCount> Unit;
#pragma unroll
  for (int k = 0; k < 2; k++)
    if (k < units()) ((Unit*)out)[spot(i, k)] = s.unit[k];
}

template <class T> union Written {
  Piece piece;
  Share<T> share;
};
template <class T> __device__ __forceinline__ Piece piece_of(const Share<T>& s) {
  Written<T> w = {};
  w.share = s;
  return w.piece;
}
template <class T> __device__ __forceinline__ Share<T> share_of(const Piece& p) {
  Written<T> w = {};
  w.piece = p;
  return w.share;
}

// line_inbox returns this thread's slot for a turn in the inbox of rank p, in the part that source
// writes in an epoch.
__device__ __forceinline__ Piece* line_inbox(const LineArgs& a, int p, int source, u32 epoch, u32 turn) {
  return a.inbox[p] + ((blockIdx.x * 2 + (epoch & 1)) * a.context.ranks() + source) * (u32)a.slots + turn * blockDim.x + threadIdx.x;
}

// receive_lines polls the lines of up to kTogether sources, from rank first on and without this
// rank, until all lines of the warp have arrived.
__device__ __forceinline__ bool receive_lines(Piece (&q)[kTogether], const LineArgs& a, int first, u32 epoch, u32 turn) {
  const Context& c = a.context;
  const Piece* from = line_inbox(a, c.rank, first, epoch, turn);
  Patience patience;
  __syncwarp();  // the lanes load together
  for (;;) {
    u32 seen[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; j++)
      if (first + j < c.ranks()) q[j] = load_line(from + j * a.slots, epoch, &seen[j]);
    int missing = -1;
    u32 last = 0;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p < c.ranks() && p != c.rank && seen[j] != epoch) missing = p, last = seen[j];
    }
    if (!__any_sync(~0u, missing >= 0)) break;
    const bool expired = missing >= 0 && patience.expired(c, Wait{kPacket, (u32)missing, blockIdx.x, epoch}, last);
    if (__any_sync(~0u, expired)) {
      patience.satisfied(c);
      return false;
    }
  }
  patience.satisfied(c);
  return true;
}

}  // namespace symm
