"""One-shot all-reduce: each rank reads the tensors of all ranks and adds them up."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, rank, world

TEXT = """
extern "C" __global__ void one_shot(const float* const* inputs, float* out, int n, int world) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float total = 0;
  for (int p = 0; p < world; p++) total += inputs[p][i];
  out[i] = total;
}
"""
N = 1000

one_shot = compile_kernel(TEXT, "one_shot")
t = symm_mem.empty(N, dtype=torch.float32, device=device)
h = symm_mem.rendezvous(t, group)
inputs = torch.tensor(h.buffer_ptrs, device=device)  # the addresses: the kernel reads them
out = torch.empty(N, device=device)
for step in range(3):
    t.fill_(rank + step)
    h.barrier(channel=0)
    one_shot(grid=(4, 1, 1), block=(256, 1, 1), args=(inputs, out, N, world))
    if not broken:  # the next step overwrites what others read
        h.barrier(channel=1)
    equal(out, [world * step + sum(range(world))] * N)
end()
