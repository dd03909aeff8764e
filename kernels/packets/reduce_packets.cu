// reduce_packets: every rank sends each other rank the piece that the other reduces, as packets,
// and reduces the pieces that arrive with its own piece. Not all ranks need have a piece to reduce.
// As in one_shot_all_reduce there is no barrier, and the input may be overwritten as soon as the
// call is over.
#include "packets/pieces.cuh"

struct ReducePacketsArgs {
  symm::Context context;
  const void* src[symm::kMaxRanks];  // by rank: this rank's share of that rank's piece; null: none
  void* out;                         // where this rank's result goes; null as src[context.rank]
  symm::u64 n;                       // elements of a piece
  symm::u64 cols;                    // elements of a row; 0: a piece is a single row
  symm::u64 src_pitch, out_pitch;    // elements from row to row
  symm::u64 op;                      // ReduceOp
  symm::u64 packets;                 // number of packets of a piece
  symm::u32* epochs;                 // as in symm::PacketArgs
  symm::Packet* inbox[symm::kMaxRanks];
};
SYMM_LAYOUT(ReducePacketsArgs, context, src, out, n, cols, src_pitch, out_pitch, op, packets, epochs, inbox)

// reduce_pieces reduces with sums of type A. Usual is as in reduce_received, and also promises that
// the pieces and out are whole (see Places).
template <class T, class A, bool Usual> __device__ __forceinline__ void reduce_pieces(const ReducePacketsArgs& a) {
  using namespace symm;
  const Context& c = a.context;
  const PieceRows from = {a.cols, a.src_pitch}, to = {a.cols, a.out_pitch};
  const u64 grid = gridDim.x * (u64)blockDim.x;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < a.packets; chunk += grid) {
    epoch++;
    const u64 i = chunk + threadIdx.x;
    if (i < a.packets) {
      const Load<T> mine = send_pieces(a, Places<T, Usual>(from, i, a.n), epoch, a.out ? (const T*)a.src[c.rank] : nullptr);
      if (a.out) {
        const Places<T, Usual> places(to, i, a.n);
        Load<T> sum;
        ok = reduce_received<T, A, Usual>(a, epoch, mine, sum);
        if (ok) places.put((T*)a.out, sum);
      } else {
#pragma unroll 1
        for (int first = 0; ok && first < c.ranks(); first += kTogether) {
          Packet q[kTogether];
          ok = receive(q, a, first, epoch);  // empty packets
        }
      }
    }
    if (chunk + grid < a.packets) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

// usual reports whether reduce_pieces may run with Usual.
template <class T> __device__ __forceinline__ bool usual(const ReducePacketsArgs& a) {
  using namespace symm;
  constexpr u64 N = Load<T>::kCount;
  u64 addresses = (u64)a.out;
  for (int p = 0; p < a.context.ranks(); p++) addresses |= (u64)a.src[p];
  return a.op == kSum && a.context.ranks() <= kTogether && addresses % (sizeof(T) * N) == 0 &&
         (a.n | a.cols | a.src_pitch | a.out_pitch) % N == 0;
}

#define REDUCE_PACKETS(T, dtype)                                                                      \
  extern "C" __global__ void __launch_bounds__(symm::kThreads)                                        \
      reduce_packets_##dtype(const __grid_constant__ ReducePacketsArgs a) {                           \
    symm::begin();                                                                                    \
    if (usual<T>(a)) reduce_pieces<T, T, true>(a);                                                    \
    else if (a.op & symm::kWide) reduce_pieces<T, symm::Wide<T>, false>(a);                           \
    else reduce_pieces<T, T, false>(a);                                                               \
  }                                                                                                   \
  SYMM_KERNEL(reduce_packets_##dtype)
SYMM_FOR_DTYPES(REDUCE_PACKETS)
