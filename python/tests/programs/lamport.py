"""Lamport's all-reduce: no signals, since each word says by itself whether it has come.

A word that has not come is -0.0, which no rank sends. While a round uses one buffer, each rank clears the one of the
round before. With two buffers a quick rank would already write the next round there.
"""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, rank, world

TEXT = """
extern "C" __global__ void lamport(unsigned* const* words, const float* in, float* out, int rank, int world, int round, int buffers) {
  const unsigned empty = 0x80000000u;
  const int i = threadIdx.x, n = blockDim.x;
  const int now = round % buffers * world * n, before = (round + buffers - 1) % buffers * world * n;
  for (int p = 0; p < world; p++) {
    *(volatile unsigned*)(words[p] + now + rank * n + i) = __float_as_uint(in[i]);
  }
  float total = 0;
  for (int p = 0; p < world; p++) {
    unsigned word;
    while ((word = *(volatile unsigned*)(words[rank] + now + p * n + i)) == empty) ;
    total += __uint_as_float(word);
  }
  out[i] = total;
  __threadfence_system();
  for (int p = 0; p < world; p++) words[rank][before + p * n + i] = empty;
  __threadfence_system();
}
"""
N, BUFFERS = 64, 2 if broken else 3

lamport = compile_kernel(TEXT, "lamport")
t = symm_mem.empty(BUFFERS, world, N, dtype=torch.float32, device=device)
h = symm_mem.rendezvous(t.fill_(-0.0), group)
words = torch.tensor(h.buffer_ptrs, device=device)
out = torch.empty(N, device=device)
h.barrier()
for step in range(7):
    args = (words, torch.full((N,), float(rank + step), device=device), out, rank, world, step, BUFFERS)
    lamport(grid=(1, 1, 1), block=(N, 1, 1), args=args)
    equal(out, [world * step + sum(range(world))] * N)
end()
