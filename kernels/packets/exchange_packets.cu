// exchange_packets: every rank sends each other rank a piece, as packets, and stores the pieces
// that arrive in its own memory. There is no barrier: a call takes the latency of one message. The
// sent pieces may be overwritten as soon as the call is over, because they are then in the peers'
// inboxes. The kernel serves small messages, because the links carry four thirds of each message.
#include "packets/pieces.cuh"

struct ExchangePacketsArgs {
  symm::Context context;
  const void* src[symm::kMaxRanks];  // by rank: the piece to send, in this rank's memory; null: none
  void* dst[symm::kMaxRanks];        // by rank: the place of its piece, in this rank's memory; null: none
  symm::u64 n;                       // bytes of a piece
  symm::u64 width;                   // bytes of a row; 0: a piece is a single row
  symm::u64 src_pitch, dst_pitch;    // bytes from row to row
  symm::u64 packets;                 // number of packets of a piece
  symm::u32* epochs;                 // as in symm::PacketArgs
  symm::Packet* inbox[symm::kMaxRanks];
};
SYMM_LAYOUT(ExchangePacketsArgs, context, src, dst, n, width, src_pitch, dst_pitch, packets, epochs, inbox)

// exchange_pieces moves elements of type T. n, width, pitches and addresses are multiples of its
// size. Whole is as in Places. Packets carry the same bytes for every T.
template <class T, bool Whole> __device__ __forceinline__ void exchange_pieces(const ExchangePacketsArgs& a) {
  using namespace symm;
  const Context& c = a.context;
  const PieceRows from = {a.width / sizeof(T), a.src_pitch / sizeof(T)}, to = {a.width / sizeof(T), a.dst_pitch / sizeof(T)};
  const u64 n = a.n / sizeof(T), grid = gridDim.x * (u64)blockDim.x;
  T* const place = (T*)a.dst[c.rank];
  const T* const own = place && place != a.src[c.rank] ? (const T*)a.src[c.rank] : nullptr;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < a.packets; chunk += grid) {
    epoch++;
    const u64 i = chunk + threadIdx.x;
    if (i < a.packets) {
      const Load<T> mine = send_pieces(a, Places<T, Whole>(from, i, n), epoch, own);
      const Places<T, Whole> places(to, i, n);
      if (own) places.put(place, mine);
#pragma unroll 1
      for (int first = 0; ok && first < c.ranks(); first += kTogether) {
        Packet q[kTogether];
        ok = receive(q, a, first, epoch);
#pragma unroll
        for (int j = 0; j < kTogether; j++) {
          const int p = first + j;
          if (ok && p < c.ranks() && p != c.rank && a.dst[p]) places.put((T*)a.dst[p], unpack<T>(q[j]));
        }
      }
    }
    if (chunk + grid < a.packets) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

extern "C" __global__ void __launch_bounds__(symm::kThreads) exchange_packets(const __grid_constant__ ExchangePacketsArgs a) {
  using namespace symm;
  begin();
  u64 all = a.n | a.width | a.src_pitch | a.dst_pitch;
  for (int p = 0; p < a.context.ranks(); p++) all |= (u64)a.src[p] | (u64)a.dst[p];
  if (all % 4 == 0) exchange_pieces<u32, true>(a);  // a unit is an element
  else exchange_pieces<u8, false>(a);
}
SYMM_KERNEL(exchange_packets)
