// two_shot_all_reduce: every rank owns a slice of the packets. It receives the elements of that
// slice from all ranks as packets, reduces them, and sends the result to all ranks as packets. That
// takes the latency of two messages and no barrier, and for more than two ranks the links carry
// fewer bytes than in one shot. out may be in. All slices have the same number of packets; packets
// beyond the end carry zeros, so that all ranks send and receive the same number.
#include "packets/packets.cuh"

// push_slices sends packet i of each slice to the owner of the slice.
template <class T>
__device__ __forceinline__ void push_slices(const symm::PacketArgs& a, symm::u32 epoch, symm::u64 i, symm::u64 slice, bool quick) {
  using namespace symm;
  const T* in = (const T*)a.in;
#pragma unroll 1
  for (int k = 1; !quick && k < a.context.ranks(); k++) {
    const int p = neighbour(a.context, k);
    store_packet(inbox(a, p, a.context.rank, epoch), pack(take(in, p * slice + i, a.n, false), epoch));
  }
#pragma unroll 1
  for (int first = 1; quick && first < a.context.ranks(); first += kTogether - 1) {
    Load<T> l[kTogether - 1];
#pragma unroll
    for (int j = 0; j < kTogether - 1; j++)
      if (first + j < a.context.ranks()) l[j] = take(in, neighbour(a.context, first + j) * slice + i, a.n, true);
#pragma unroll
    for (int j = 0; j < kTogether - 1; j++)
      if (first + j < a.context.ranks()) store_packet(inbox(a, neighbour(a.context, first + j), a.context.rank, epoch), pack(l[j], epoch));
  }
}

// gather stores packet i of the results of all ranks.
template <class T>
__device__ __forceinline__ bool gather(const symm::PacketArgs& a, symm::u32 epoch, symm::u64 i, symm::u64 slice, bool quick) {
  using namespace symm;
#pragma unroll 1
  for (int first = 0; first < a.context.ranks(); first += kTogether) {
    Packet q[kTogether];
    if (!receive(q, a, first, epoch)) return false;
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      const int p = first + j;
      if (p < a.context.ranks() && p != a.context.rank) put((T*)a.out, p * slice + i, a.n, quick, unpack<T>(q[j]));
    }
  }
  return true;
}

template <class T, class A, bool Usual>
__device__ __forceinline__ void two_shot(const symm::PacketArgs& a) {
  using namespace symm;
  const T* in = (const T*)a.in;
  T* out = (T*)a.out;
  const u64 grid = gridDim.x * (u64)blockDim.x, world = a.context.ranks();
  const u64 slice = a.packets, own = a.context.rank * slice;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < slice; chunk += grid) {
    epoch += 2;
    const u64 i = chunk + threadIdx.x;
    if (i < slice) {
      const u64 last = (world - 1) * slice + i;
      const bool in_quick = inside<T>(in, last, a.n), out_quick = inside<T>(out, last, a.n);
      push_slices<T>(a, epoch - 1, i, slice, in_quick);
      Load<T> sum;
      ok = reduce_received<T, A, Usual>(a, epoch - 1, take(in, own + i, a.n, in_quick), sum);
      if (ok) {
        send_all(a, epoch, sum);
        put(out, own + i, a.n, out_quick, sum);
        ok = gather<T>(a, epoch, i, slice, out_quick);
      }
    }
    if (chunk + grid < slice) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

#define TWO_SHOT(T, dtype) SYMM_PACKETS(two_shot_all_reduce_##dtype, two_shot, symm::PacketArgs, T)
SYMM_FOR_DTYPES(TWO_SHOT)
