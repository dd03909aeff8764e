// one_shot_all_reduce: every rank pushes its elements to every other rank as packets and reduces
// the elements that arrive. There is no barrier: a call takes the latency of one message. Its input
// may be overwritten as soon as the call is over, because the bytes are then in the peers' inboxes.
// out may be in. The kernel serves messages up to a few hundred KiB, because the links carry four
// thirds of the message to every peer.
#include "packets/packets.cuh"

template <class T, class A, bool Usual>
__device__ __forceinline__ void one_shot(const symm::PacketArgs& a) {
  using namespace symm;
  const T* in = (const T*)a.in;
  T* out = (T*)a.out;
  const u64 packets = a.packets, grid = gridDim.x * (u64)blockDim.x;
  u32 epoch = a.epochs[blockIdx.x];
  bool ok = true;
  for (u64 chunk = blockIdx.x * (u64)blockDim.x; ok && chunk < packets; chunk += grid) {
    epoch++;
    const u64 i = chunk + threadIdx.x;
    if (i < packets) {
      const Load<T> own = take(in, i, a.n, inside<T>(in, i, a.n));
      send_all(a, epoch, own);
      Load<T> sum;
      ok = reduce_received<T, A, Usual>(a, epoch, own, sum);
      if (ok) put(out, i, a.n, inside<T>(out, i, a.n), sum);
    }
    if (chunk + grid < packets) ok = __syncthreads_and(ok);
  }
  __syncthreads();
  if (threadIdx.x == 0) a.epochs[blockIdx.x] = epoch;
}

#define ONE_SHOT(T, dtype) SYMM_PACKETS(one_shot_all_reduce_##dtype, one_shot, symm::PacketArgs, T)
SYMM_FOR_DTYPES(ONE_SHOT)
