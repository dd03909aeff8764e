"""Two-shot all-reduce: each rank adds up its part of all tensors, and then reads the other parts from their ranks."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, rank, world

REDUCE = """
extern "C" __global__ void reduce(float* const* tensors, int part, int rank, int world) {
  const int i = rank * part + blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (rank + 1) * part) return;
  float total = 0;
  for (int p = 0; p < world; p++) total += tensors[p][i];
  tensors[rank][i] = total;
}
"""
GATHER = """
extern "C" __global__ void gather(const float* const* tensors, float* out, int part, int world) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < world * part) out[i] = tensors[i / part][i];
}
"""
PART = 300

reduce, gather = compile_kernel(REDUCE, "reduce"), compile_kernel(GATHER, "gather")
t = symm_mem.empty(world * PART, dtype=torch.float32, device=device)
h = symm_mem.rendezvous(t, group)
tensors = torch.tensor(h.buffer_ptrs, device=device)
out = torch.empty(world * PART, device=device)
numbers = torch.arange(world * PART, device=device) % 7
for step in range(3):
    t.copy_(numbers + rank + step)
    h.barrier(channel=0)
    reduce(grid=(2, 1, 1), block=(256, 1, 1), args=(tensors, PART, rank, world))
    if not broken:  # the parts of the other ranks are complete
        h.barrier(channel=1)
    gather(grid=(5, 1, 1), block=(256, 1, 1), args=(tensors, out, PART, world))
    h.barrier(channel=2)
    equal(out, world * (numbers + step) + sum(range(world)))
end()
