// one_shot_all_reduce: every rank pushes its elements to every other as packets and reduces what arrives
// (the packet protocol of symm.cuh). There is no barrier: a call costs one one-way trip, and its input may
// be overwritten as soon as it is over, because the bytes are already in the peers' inboxes. For messages
// up to some hundred KiB: the link carries twice the bytes, to every peer.
//
// Grid and block sizes are the host's choice, equal on all ranks, at most kThreads threads. A block works
// on its own part of every inbox and counts its own epochs, one for each chunk of kPasses packets a thread.
// A block that sends epoch e has consumed all of e-1; so whoever received a packet of e may write e+1 into
// the bank of e-1. For the same reason a block does not count a chunk in which it has no packet.
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

// push sends elements to the k-th neighbour on the right: each rank starts at another peer, which spreads
// the traffic.
template <class E>
__device__ __forceinline__ void push(const OneShotArgs& a, E e, int k, symm::u64 slot, symm::u32 epoch) {
  const int p = a.context.rank + k;
  symm::store_packet(a.inbox[p < a.context.world_size ? p : p - a.context.world_size] + slot, symm::to_word(e), epoch);
}

// receive polls the packets of up to kTogether sources from rank first on, its own excepted, until all are
// there.
__device__ __forceinline__ bool receive(symm::Packet (&q)[symm::kTogether], const symm::Packet* from, int first, symm::Context c, symm::u32 epoch) {
  using namespace symm;
  Patience patience;
  for (;;) {
#pragma unroll
    for (int j = 0; j < kTogether; j++)
      if (first + j < c.world_size) q[j] = load_packet(from + (first + j) * (u64)kSlots);
    int missing = -1;
    u32 seen = 0;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p < c.world_size && p != c.rank && (q[j].epoch0 != epoch || q[j].epoch1 != epoch)) missing = p, seen = q[j].epoch0;
    }
    if (missing < 0) break;
    if (patience.expired(c, Wait{kPacket, (u32)missing, blockIdx.x, epoch}, seen)) return false;
  }
  patience.satisfied(c);
  return true;
}

// one_shot does it. Few says that one turn of reading is enough, which lets the compiler drop the loop over
// turns.
template <class T, bool Few>
__device__ __forceinline__ void one_shot(const OneShotArgs& a) {
  using namespace symm;
  constexpr int N = 8 / sizeof(T);
  typedef Elements<T, N> E;
  const int world = a.context.world_size, rank = a.context.rank;
  const u32 op = (u32)a.op;
  const T* in = (const T*)a.in;
  const bool in_whole = ((u64)in & 7) == 0, out_whole = ((u64)a.out & 7) == 0;
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
#pragma unroll
      for (int k = 1; k < kTogether; k++) {
        if (k >= world) break;
        push(a, own[s], k, bank + (rank * kPasses + s) * (u64)kThreads, epoch);
      }
#pragma unroll 1
      for (int k = kTogether; !Few && k < world; k++) push(a, own[s], k, bank + (rank * kPasses + s) * (u64)kThreads, epoch);
    }
#pragma unroll 1
    for (int s = 0; s < kPasses && ok; s++) {
      const u64 i = first + s * grid;
      if (i >= packets) break;
      const E mine = load<T, N>(in, i, a.n, in_whole);
      E sum;
#pragma unroll 1
      for (int from = 0; ok && (Few ? from == 0 : from < world); from += kTogether) {
        Packet q[kTogether];
        ok = receive(q, a.inbox[rank] + bank + s * (u64)kThreads, from, a.context, epoch);
#pragma unroll
        for (int j = 0; j < kTogether; j++) {
          const int p = from + j;
          if (p >= world) break;
          const E next = p == rank ? mine : from_word<E>(q[j].data0 | (u64)q[j].data1 << 32);
          if (p == 0) sum = next;
          else combine(sum, next, op);
        }
      }
      finish(sum, world, op);
      if (ok) store<T, N>((T*)a.out, i, a.n, out_whole, sum);
    }
    if (chunk + grid * kPasses < packets) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

#define ONE_SHOT(T, dtype)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(kThreads) one_shot_all_reduce_##dtype(const __grid_constant__ OneShotArgs a) {    \
    symm::begin();                                                                                                               \
    if (a.context.world_size <= symm::kTogether) one_shot<T, true>(a);                                                           \
    else one_shot<T, false>(a);                                                                                                  \
  }                                                                                                                              \
  SYMM_KERNEL(one_shot_all_reduce_##dtype)
SYMM_FOR_DTYPES(ONE_SHOT)
