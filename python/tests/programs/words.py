"""Signals as words: a rank writes the number of the step into a word of its neighbour, and the neighbour's kernel waits for it."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, compile_kernel, device, end, equal, group, left, rank, right

TEXT = """
extern "C" __global__ void take(const int* data, const unsigned* word, unsigned step, int* out) {
  if (threadIdx.x == 0) {
    while (*(volatile const unsigned*)word != step) ;
    __threadfence_system();
  }
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}
"""
N = 64

take = compile_kernel(TEXT, "take")
data = symm_mem.empty(N, dtype=torch.int32, device=device)
word = symm_mem.empty(1, dtype=torch.uint32, device=device)
h, word_h = symm_mem.rendezvous(data, group), symm_mem.rendezvous(word.zero_(), group)
theirs, their_word = h.get_buffer(right, (N,), torch.int32), word_h.get_buffer(right, (1,), torch.uint32)
out = torch.empty(N, dtype=torch.int32, device=device)
h.barrier()
for step in range(1, 4):
    if broken:  # the word comes before the data
        torch.ops.symm_mem.stream_write_value32_(their_word, 0, step)
    theirs.fill_(10 * rank + step)
    if not broken:
        torch.ops.symm_mem.stream_write_value32_(their_word, 0, step)
    take(grid=(1, 1, 1), block=(N, 1, 1), args=(data, word, step, out))
    equal(out, [10 * left + step] * N)
    h.barrier()
end()
