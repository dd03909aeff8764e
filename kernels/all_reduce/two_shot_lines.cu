// two_shot_lines: two_shot_all_reduce by lines (symm/line.cuh has the protocol) instead of packets.
// Every rank owns a slice, receives the elements of that slice from all ranks, reduces them and
// sends the result to all ranks; out may be in. A warp works on 480 bytes, which four lines carry,
// independently of the other warps of its rank, so that the messages of many warps overlap. All
// slices have the same number of warps; elements beyond the end are zeros, so that all ranks send
// and receive the same number of lines.
//
// Source: lines come from NCCL's LL128 protocol, the two shots from two_shot_all_reduce.cu.
#include "all_reduce/lines.cuh"

// push_slices sends piece i of each slice to the owner of the slice.
template <class T>
__device__ __forceinline__ void push_slices(const symm::LineArgs& a, symm::u32 epoch, symm::u32 turn, symm::u64 i, bool quick) {
  using namespace symm;
  const Context& c = a.context;
#pragma unroll 1
  for (int k = 1; !quick && k < c.ranks(); k++) {
    const Share<T> s = take_share((const T*)a.in, neighbour(c, k) * a.pieces + i, a.n, false);
    __syncwarp();
    store_line(line_inbox(a, neighbour(c, k), c.rank, epoch, turn), piece_of(s), epoch);
  }
#pragma unroll 1
  for (int first = 1; quick && first < c.ranks(); first += kTogether - 1) {
    Share<T> s[kTogether - 1];
#pragma unroll
    for (int j = 0; j < kTogether - 1; j++)
      if (first + j < c.ranks()) s[j] = take_share((const T*)a.in, neighbour(c, first + j) * a.pieces + i, a.n, true);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kTogether - 1; j++)
      if (first + j < c.ranks()) store_line(line_inbox(a, neighbour(c, first + j), c.rank, epoch, turn), piece_of(s[j]), epoch);
  }
}

// reduce_slices combines piece i of this rank's slice with the pieces that the others sent in an
// epoch.
template <class T, class A, bool Usual>
__device__ __forceinline__ bool reduce_slices(const symm::LineArgs& a, symm::u32 epoch, symm::u32 turn, const symm::Share<T>& mine, symm::Share<T>& result) {
  using namespace symm;
  const int world = a.context.ranks();
  const u32 op = Usual ? kSum : (u32)a.op & 255;
  Share<T, A> sum;
#pragma unroll 1
  for (int first = 0; Usual ? first == 0 : first < world; first += kTogether) {
    Piece q[kTogether];
    if (!receive_lines(q, a, first, epoch, turn)) return false;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p >= world) break;
      const Share<T> next = p == a.context.rank ? mine : share_of<T>(q[j]);
#pragma unroll
      for (int k = 0; k < 2; k++) {
        if (p == 0) sum.unit[k] = as<A>(next.unit[k]);
        else combine(sum.unit[k], as<A>(next.unit[k]), op);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    finish(sum.unit[k], world, op);
    result.unit[k] = as<T>(sum.unit[k]);
  }
  return true;
}

// gather stores piece i of the results of all ranks.
template <class T>
__device__ __forceinline__ bool gather(const symm::LineArgs& a, symm::u32 epoch, symm::u32 turn, symm::u64 i, bool quick) {
  using namespace symm;
#pragma unroll 1
  for (int first = 0; first < a.context.ranks(); first += kTogether) {
    Piece q[kTogether];
    if (!receive_lines(q, a, first, epoch, turn)) return false;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p < a.context.ranks() && p != a.context.rank) put_share((T*)a.out, p * a.pieces + i, a.n, quick, share_of<T>(q[j]));
    }
  }
  return true;
}

template <class T, class A, bool Usual>
__device__ __forceinline__ void two_shot_lines(const symm::LineArgs& a) {
  using namespace symm;
  const Context& c = a.context;
  const u64 grid = gridDim.x * (u64)blockDim.x, own = c.rank * a.pieces;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < a.pieces; chunk += a.turns * grid) {
    epoch += 2;
    const u64 first = chunk + threadIdx.x, past = chunk + a.turns * grid;
    const u64 end = past < a.pieces ? past : a.pieces;  // either all lanes of a warp are below end, or none
    for (u32 t = 0; first + t * grid < end; t++) {
      const u64 i = first + t * grid;
      push_slices<T>(a, epoch - 1, t, i, whole<T>(a.in, (c.ranks() - 1) * a.pieces + i, a.n));
    }
    for (u32 t = 0; ok && first + t * grid < end; t++) {
      const u64 i = first + t * grid, last = (c.ranks() - 1) * a.pieces + i;
      Share<T> sum;
      ok = reduce_slices<T, A, Usual>(a, epoch - 1, t, take_share((const T*)a.in, own + i, a.n, whole<T>(a.in, last, a.n)), sum);
      if (!ok) break;
      __syncwarp();
#pragma unroll 1
      for (int k = 1; k < c.ranks(); k++) store_line(line_inbox(a, neighbour(c, k), c.rank, epoch, t), piece_of(sum), epoch);
      put_share((T*)a.out, own + i, a.n, whole<T>(a.out, last, a.n), sum);
    }
    for (u32 t = 0; ok && first + t * grid < end; t++) {
      const u64 i = first + t * grid;
      ok = gather<T>(a, epoch, t, i, whole<T>(a.out, (c.ranks() - 1) * a.pieces + i, a.n));
    }
    if (past < a.pieces) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

#define TWO_SHOT_LINES(T, dtype)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(symm::kLineThreads) two_shot_lines_##dtype(const __grid_constant__ symm::LineArgs a) { \
    symm::begin();                                                                                                                    \
    if (a.op == symm::kSum && a.context.ranks() <= symm::kTogether) two_shot_lines<T, T, true>(a);                                    \
    else if (a.op & symm::kWide) two_shot_lines<T, symm::Wide<T>, false>(a);                                                          \
    else two_shot_lines<T, T, false>(a);                                                                                              \
  }                                                                                                                                   \
  SYMM_KERNEL(two_shot_lines_##dtype)
SYMM_FOR_DTYPES(TWO_SHOT_LINES)
