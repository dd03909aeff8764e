"""Dispatch and combine of tokens: a kernel sends each token to the rank of its expert, and the rank returns it to its place."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, rank, world

DISPATCH = """
extern "C" __global__ void dispatch(
    int* const* rows, int* const* counts, const int* tokens, const int* expert, int n, int width, int rank) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= n) return;
  const int place = atomicAdd_system(counts[expert[token]], 1);
  int* row = rows[expert[token]] + place * (width + 2);
  row[0] = rank;
  row[1] = token;
  for (int i = 0; i < width; i++) row[2 + i] = tokens[token * width + i];
}
"""
COMBINE = """
extern "C" __global__ void combine(int* const* results, const int* rows, const int* count, int width, int rank) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= *count) return;
  const int* row = rows + place * (width + 2);
  for (int i = 0; i < width; i++) results[row[0]][row[1] * width + i] = row[2 + i] + 1000 * rank;
}
"""
TOKENS, WIDTH = 24, 6
CAPACITY = TOKENS if broken else world * TOKENS  # all tokens of all ranks may go to one expert

dispatch, combine = compile_kernel(DISPATCH, "dispatch"), compile_kernel(COMBINE, "combine")
rows, results = (symm_mem.empty(n, k, dtype=torch.int32, device=device) for n, k in ((CAPACITY, WIDTH + 2), (TOKENS, WIDTH)))
count = symm_mem.empty(1, dtype=torch.int32, device=device)
h, results_h, count_h = (symm_mem.rendezvous(t, group) for t in (rows, results, count))
rows_at, results_at, counts = (torch.tensor(x.buffer_ptrs, device=device) for x in (h, results_h, count_h))
for step in range(3):
    tokens = torch.arange(TOKENS * WIDTH, dtype=torch.int32, device=device).view(TOKENS, WIDTH) + 200 * rank
    expert = torch.arange(TOKENS, dtype=torch.int32, device=device).remainder(step + 1).clamp(max=world - 1)  # in step 0 all go to rank 0
    count.zero_()
    h.barrier(channel=0)
    dispatch(grid=(1, 1, 1), block=(32, 1, 1), args=(rows_at, counts, tokens, expert, TOKENS, WIDTH, rank))
    h.barrier(channel=1)
    combine(grid=(world, 1, 1), block=(32, 1, 1), args=(results_at, rows, count, WIDTH, rank))
    h.barrier(channel=2)
    equal(results, tokens + 1000 * expert[:, None])
end()
