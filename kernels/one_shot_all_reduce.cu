// one_shot_all_reduce: every rank pushes its elements to every other as packets and reduces what arrives (the packet protocol of symm.cuh).
// There is no barrier: a call costs one one-way trip, and its input may be overwritten as soon as it is over, because the bytes are
// already in the peers' inboxes. For messages up to some hundred KiB: the link carries twice the bytes, to every peer.
//
// Grid and block sizes are the host's choice, equal on all ranks, at most kThreads threads. A block works on its own part of every inbox and counts its
// own epochs, one for each chunk of kPasses packets a thread. A block that sends epoch e has consumed all of e-1; so whoever received a packet of e
// may write e+1 into the bank of e-1. For the same reason a block does not count a chunk in which it has no packet.
#include "reduce.cuh"

constexpr int kThreads = 512, kPasses = 4, kSlots = kThreads * kPasses;  // symmem sizes the inboxes by kSlots

struct OneShotArgs {
  symm::Context context;
  const void* in;
  void* out;
  symm::u64 n;                           // elements
  symm::u64 op;                          // symm::ReduceOp
  symm::u32* epochs;                     // one word for each block, in this rank's memory
  symm::Packet* inbox[symm::kMaxRanks];  // by rank: [block][bank][source][kSlots]
};

template <class T, int Ranks>
__device__ __forceinline__ void one_shot(const OneShotArgs& a) {
  using namespace symm;
  constexpr int N = 8 / sizeof(T);
  typedef Elements<T, N> E;
  const int world = a.context.world_size, rank = a.context.rank;
  const T* in = (const T*)a.in;
  T* out = (T*)a.out;
  const bool in_whole = ((u64)in & 7) == 0, out_whole = ((u64)out & 7) == 0;
  const u64 packets = (a.n + N - 1) / N, grid = gridDim.x * (u64)blockDim.x;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < packets; chunk += grid * kPasses) {
    epoch++;
    const u64 bank = (blockIdx.x * 2ull + (epoch & 1)) * world * kSlots + threadIdx.x;
    const u64 first = chunk + threadIdx.x;
    E own[kPasses];
#pragma unroll
    for (int s = 0; s < kPasses; s++)
      if (first + s * grid < packets) own[s] = load<T, N>(in, first + s * grid, a.n, in_whole);
#pragma unroll
    for (int s = 0; s < kPasses; s++) {
      if (first + s * grid >= packets) break;
      const u64 word = to_word(own[s]);
#pragma unroll
      for (int k = 1; k < Ranks; k++) {  // each rank starts at its right neighbour, to spread the traffic
        if (k >= world) break;
        const int p = rank + k < world ? rank + k : rank + k - world;
        store_packet(a.inbox[p] + bank + (rank * kPasses + s) * (u64)kThreads, word, epoch);
      }
    }
#pragma unroll 1
    for (int s = 0; s < kPasses; s++) {
      if (first + s * grid >= packets) break;
      const Packet* from = a.inbox[rank] + bank + s * (u64)kThreads;
      const E mine = load<T, N>(in, first + s * grid, a.n, in_whole);
      Packet q[Ranks];
      Patience patience;
      for (;;) {
#pragma unroll
        for (int p = 0; p < Ranks; p++)  // all sources at once, so that the loads overlap
          if (p < world) q[p] = load_packet(from + p * (u64)kSlots);
        int missing = -1;
        u32 seen = 0;
#pragma unroll
        for (int p = 0; p < Ranks; p++)
          if (p < world && p != rank && (q[p].epoch0 != epoch || q[p].epoch1 != epoch)) missing = p, seen = q[p].epoch0;
        if (missing < 0) break;
        if (patience.expired(a.context, Wait{kPacket, (u32)missing, blockIdx.x, epoch}, seen)) {
          ok = false;
          break;
        }
      }
      patience.satisfied(a.context);
      if (!ok) break;
      E all[Ranks];
#pragma unroll
      for (int p = 0; p < Ranks; p++) all[p] = p == rank ? mine : from_word<E>(q[p].data0 | (u64)q[p].data1 << 32);
      store<T, N>(out, first + s * grid, a.n, out_whole, reduce(all, world, (u32)a.op));
    }
    if (chunk + grid * kPasses < packets) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

#define ONE_SHOT(T, dtype)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(kThreads) one_shot_all_reduce_##dtype(const __grid_constant__ OneShotArgs a) {    \
    if (a.context.world_size <= 4) one_shot<T, 4>(a);                                                                            \
    else if (a.context.world_size <= 8) one_shot<T, 8>(a);                                                                       \
    else one_shot<T, 16>(a);                                                                                                     \
  }                                                                                                                              \
  SYMM_KERNEL(one_shot_all_reduce_##dtype)
SYMM_FOR_DTYPES(ONE_SHOT)
