"""A barrier within a kernel: each pair of ranks meets at words of the signal pad, by compare and swap."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, rank, world

TEXT = """
__device__ void barrier(unsigned* const* pads, int rank, int world, int channel, bool fenced) {
  __syncthreads();
  const int p = threadIdx.x;
  if (p < world) {
    if (fenced) __threadfence_system();
    while (atomicCAS_system(pads[p] + channel * world + rank, 0u, 1u) != 0u) ;
    while (atomicCAS_system(pads[rank] + channel * world + p, 1u, 0u) != 1u) ;
    __threadfence_system();
  }
  __syncthreads();
}

extern "C" __global__ void exchange(int* const* tensors, unsigned* const* pads, int* out, int value, int rank, int world, int broken) {
  const int channel = 2 * blockIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int p = 0; p < world; p++) tensors[p][rank * n + i] = value + p;
  barrier(pads, rank, world, channel, !broken);  // without its fence the data may come after the word
  for (int p = 0; p < world; p++) out[p * n + i] = tensors[rank][p * n + i];
  barrier(pads, rank, world, channel + 1, true);
}
"""
BLOCKS, THREADS = 2, 64
N = BLOCKS * THREADS

exchange = compile_kernel(TEXT, "exchange")
t = symm_mem.empty(world, N, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(t, group)
tensors, pads = (torch.tensor(addresses, device=device) for addresses in (h.buffer_ptrs, h.signal_pad_ptrs))
out = torch.empty(world, N, dtype=torch.int32, device=device)
for step in range(3):
    args = (tensors, pads, out, 100 * rank + 10 * step, rank, world, int(broken))
    exchange(grid=(BLOCKS, 1, 1), block=(THREADS, 1, 1), args=args)
    equal(out, [[100 * p + 10 * step + rank] * N for p in range(world)])
end()
