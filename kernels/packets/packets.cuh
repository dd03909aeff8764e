// packets.cuh: reductions and exchanges of small messages move elements as packets (symm/packet.cuh
// has the protocol).
//
// The host chooses the sizes of grid and block, equal on all ranks; a block has at most kThreads
// threads. A block works on its own part of every inbox and counts its own epochs. It works in
// chunks of one packet for each thread. In an epoch every rank sends as many packets as it
// receives: for each slot, either one packet to and from every rank, or none. A block that sends
// epoch e has consumed all packets of e-1, so a rank that received a packet of e may write e+1 into
// the bank of e-1. For the same reason a block does not count a chunk in which it has no packet.
#pragma once
#include "reduce/reduce.cuh"

namespace symm {

constexpr int kThreads = 512;  // the inboxes have a slot for each thread
SYMM_VALUES(Packets, kThreads)

struct PacketArgs {
  Context context;
  const void* in;
  void* out;
  u64 n;                     // elements
  u64 op;                    // ReduceOp
  u64 packets;               // packets that a rank reduces: of the tensor in one shot, of a slice in two
  u32* epochs;               // one word for each block, in this rank's memory
  Packet* inbox[kMaxRanks];  // by rank: [block][bank][source][kThreads]
};
SYMM_LAYOUT(PacketArgs, context, in, out, n, op, packets, epochs, inbox)

// Load holds the elements that one packet carries, kUnits units of kCount elements, as values of
// type A. In the tensor they are stored as T. A unit of T is 4 bytes, or one element of 8. The
// units of a warp's packets lie side by side, so that its loads and stores are whole lines.
template <class T, class A = T> struct Load {
  static constexpr int kCount = sizeof(T) == 8 ? 1 : 4 / sizeof(T), kUnits = sizeof(T) == 8 ? 1 : 3;
  Elements<A, kCount> unit[kUnits];
};

// place is the place of the k-th unit of packet i, counted from the tensor's start.
template <class T> __device__ __forceinline__ u64 place(u64 i, int k) {
  return (i >> 5) * (32 * Load<T>::kUnits) + k * 32 + (i & 31);
}

// inside reports whether packet i is full and its units are aligned at p, as quick requires below.
template <class T> __device__ __forceinline__ bool inside(const void* p, u64 i, u64 n) {
  return ((u64)p & (sizeof(T) * Load<T>::kCount - 1)) == 0 && (place<T>(i, Load<T>::kUnits - 1) + 1) * Load<T>::kCount <= n;
}

// take_slowly and put_slowly are not inlined, so that the code of the common case stays together.
template <class T> __device__ __noinline__ Load<T> take_slowly(const T* in, u64 i, u64 n) {
  Load<T> l;
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = load<T, Load<T>::kCount>(in, place<T>(i, k), n, false);
  return l;
}
template <class T> __device__ __noinline__ void put_slowly(T* out, u64 i, u64 n, Load<T> l) {
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) store<T, Load<T>::kCount>(out, place<T>(i, k), n, false, l.unit[k]);
}

// take reads the elements of packet i, with zeros beyond n. If quick is set, the loads do not wait
// for each other.
template <class T> __device__ __forceinline__ Load<T> take(const T* in, u64 i, u64 n, bool quick) {
  typedef Elements<T, Load<T>::kCount> Unit;
  if (!quick) return take_slowly(in, i, n);
  Load<T> l;
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) l.unit[k] = ((const Unit*)in)[place<T>(i, k)];
  return l;
}

template <class T> __device__ __forceinline__ void put(T* out, u64 i, u64 n, bool quick, const Load<T>& l) {
  typedef Elements<T, Load<T>::kCount> Unit;
  if (!quick) return put_slowly(out, i, n, l);
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) ((Unit*)out)[place<T>(i, k)] = l.unit[k];
}

// pack and unpack turn a load into a packet and back.
template <class T> union Carried {
  u32 data[3];
  Load<T> load;
};
template <class T> __device__ __forceinline__ Packet pack(const Load<T>& l, u32 epoch) {
  Carried<T> c = {};
  c.load = l;
  return Packet{{c.data[0], c.data[1], c.data[2]}, epoch};
}
template <class T> __device__ __forceinline__ Load<T> unpack(const Packet& p) {
  Carried<T> c;
#pragma unroll
  for (int k = 0; k < 3; k++) c.data[k] = p.data[k];
  return c.load;
}

// Args, the arguments of a kernel, have the fields context and inboxes of PacketArgs.

// inbox returns a slot in the inbox of rank p, in the part that source writes in an epoch; without
// a slot, the slot of this thread.
template <class Args> __device__ __forceinline__ Packet* inbox(const Args& a, int p, int source, u32 epoch, u32 slot) {
  return a.inbox[p] + ((blockIdx.x * 2 + (epoch & 1)) * a.context.ranks() + source) * kThreads + slot;
}
template <class Args> __device__ __forceinline__ Packet* inbox(const Args& a, int p, int source, u32 epoch) {
  return inbox(a, p, source, epoch, threadIdx.x);
}

// receive polls the packets in a slot from up to kTogether sources, from rank first on, until the
// packets of all ranks p for which sends(p) is true have arrived. Without a slot, it receives the
// packets of all other ranks in the slot of this thread.
template <class Args, class Sends>
__device__ __forceinline__ bool receive(Packet (&q)[kTogether], const Args& a, int first, u32 epoch, u32 slot, Sends sends) {
  const Context& c = a.context;
  const Packet* from = inbox(a, c.rank, first, epoch, slot);
  Patience patience;
  for (;;) {
#pragma unroll
    for (int j = 0; j < kTogether; j++)
      if (first + j < c.ranks()) q[j] = load_packet(from + j * kThreads);
    int missing = -1;
    u32 seen = 0;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p < c.ranks() && sends(p) && q[j].epoch != epoch) missing = p, seen = q[j].epoch;
    }
    if (missing < 0) break;
    if (patience.expired(c, Wait{kPacket, (u32)missing, blockIdx.x, epoch}, seen)) return false;
  }
  patience.satisfied(c);
  return true;
}
template <class Args> __device__ __forceinline__ bool receive(Packet (&q)[kTogether], const Args& a, int first, u32 epoch) {
  return receive(q, a, first, epoch, threadIdx.x, [&](int p) { return p != a.context.rank; });
}

// reduce_received reduces mine and the elements that the others sent in an epoch, with sums of type
// A. Usual means that the reduction is a sum and the group is so small that one turn of reads is
// enough: the compiler then drops the loop over turns and the other reductions.
template <class T, class A, bool Usual, class Args>
__device__ __forceinline__ bool reduce_received(const Args& a, u32 epoch, const Load<T>& mine, Load<T>& result) {
  const int world = a.context.ranks();
  const u32 op = Usual ? kSum : (u32)a.op & 255;
  Load<T, A> sum;
#pragma unroll 1
  for (int first = 0; Usual ? first == 0 : first < world; first += kTogether) {
    Packet q[kTogether];
    if (!receive(q, a, first, epoch)) return false;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p >= world) break;
      const Load<T> next = p == a.context.rank ? mine : unpack<T>(q[j]);
#pragma unroll
      for (int k = 0; k < Load<T>::kUnits; k++) {
        if (p == 0) sum.unit[k] = as<A>(next.unit[k]);
        else combine(sum.unit[k], as<A>(next.unit[k]), op);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < Load<T>::kUnits; k++) {
    finish(sum.unit[k], world, op);
    result.unit[k] = as<T>(sum.unit[k]);
  }
  return true;
}

// send_all sends a load to all other ranks.
template <class T> __device__ __forceinline__ void send_all(const PacketArgs& a, u32 epoch, const Load<T>& l) {
  const Packet packet = pack(l, epoch);
#pragma unroll
  for (int k = 1; k < kTogether; k++) {
    if (k >= a.context.ranks()) break;
    store_packet(inbox(a, neighbour(a.context, k), a.context.rank, epoch), packet);
  }
#pragma unroll 1
  for (int k = kTogether; k < a.context.ranks(); k++) store_packet(inbox(a, neighbour(a.context, k), a.context.rank, epoch), packet);
}

// SYMM_PACKETS is a kernel that runs body<T, A, Usual> with A and Usual chosen by the operation and
// the group's size.
#define SYMM_PACKETS(name, body, Args, T)                                                             \
  extern "C" __global__ void __launch_bounds__(symm::kThreads) name(const __grid_constant__ Args a) { \
    symm::begin();                                                                                    \
    if (a.op == symm::kSum && a.context.ranks() <= symm::kTogether) body<T, T, true>(a);              \
    else if (a.op & symm::kWide) body<T, symm::Wide<T>, false>(a);                                    \
    else body<T, T, false>(a);                                                                        \
  }                                                                                                   \
  SYMM_KERNEL(name)

}  // namespace symm
