"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node 4 ring.py           runs the cells, one process for each rank
    torchrun --nproc-per-node 4 ring.py --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from ring import ..." after symm_torch.start().
"""

import torch

import symm_torch as symm

# Cell 2.
source2 = symm.Source(
    r"""
__global__ void ring(symm::Handle h, int n, unsigned long long round) {
  int* all = h.buffer<int>(h.rank);
  int right = (h.rank + 1) % h.world_size;
  for (int step = 1; step < h.world_size; step++) {
    int piece = (h.rank - step + 1 + h.world_size) % h.world_size;
    if (!symm::put_with_signal(h, right, piece * n * sizeof(int), all + piece * n, n * sizeof(int), step, round)) return;
    bool ok = true;
    if (threadIdx.x == 0) ok = symm::wait_for_signal(h, step, round, true);
    if (!__syncthreads_and(ok)) return;
  }
}""",
    "cell2.cu",
)
ring = source2.kernel("ring", "symm::Handle", "int", "unsigned long long")


def run():
    # Cell 1.
    rank, size = symm.rank(), symm.world_size()
    right, left = (rank + 1) % size, (rank + size - 1) % size
    n = 1000  # elements of a piece
    all_ = symm.empty(torch.int32, size, n)
    h = symm.rendezvous(all_)
    mine = all_[rank:rank + 1]
    symm.arange(mine)
    for i in range(0, n, 100):
        mine.view(n)[i:i + 100].fill_(1000 * rank + i)
    symm.meet()

    # Cell 2.
    h.barrier(0)
    ring.launch((1,), (256,), h, n, 1)
    h.barrier(0)
    got = symm.values(all_)
    symm.show(got[0], got[len(got) - 1])
    symm.meet()

    # Cell 3.
    piece = symm.fill_from(symm.empty(torch.int32, n), got[rank * n:rank * n + n])
    symm.rendezvous(piece)
    symm.show(got == symm.values(symm.all_gather(piece)))
    symm.meet()

    # Cell 4.
    message = symm.local(torch.int32, n).fill_(-1 - rank)
    h.put_with_signal(right, message, 100, 7)
    h.wait_for_signal(100, "==", 7)
    got = symm.values(all_)
    symm.show(got[0] == -1 - left)


if __name__ == "__main__":
    symm.main(run)
