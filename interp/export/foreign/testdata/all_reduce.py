"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node 4 all_reduce.py           runs the cells, one process for each rank
    torchrun --nproc-per-node 4 all_reduce.py --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from all_reduce import ..." after symm_torch.start().
"""

import torch

import symm_torch as symm

# Cell 2.
source2 = symm.Source(
    r"""
__global__ void sum(symm::Handle h, float* out, int n) {
  if (!symm::barrier(h, 0)) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float total = 0;
    for (int p = 0; p < h.world_size; p++) total += h.buffer<float>(p)[i];
    out[i] = total;
  }
  symm::barrier(h, 0);
}""",
    "cell2.cu",
)
sum_ = source2.kernel("sum", "symm::Handle", "float*", "int")


def run():
    # Cell 1.
    rank, size = symm.rank(), symm.world_size()
    n = 100
    x = symm.empty(torch.float32, n).fill_(rank - 10)
    h = symm.rendezvous(x)
    out = symm.local(torch.float32, n)
    symm.meet()

    # Cell 2.
    sum_.launch((1,), (32,), h, out, n)
    total = symm.values(out)
    symm.println(total[0], total[n - 1])
    symm.meet()

    # Cell 3.
    want = symm.values(symm.all_reduce(x, "sum"))
    largest = 0.0
    for i in range(len(want)):
        largest = max(largest, abs(total[i] - want[i]))
    symm.println("the largest difference is", largest)
    symm.show(largest == 0.0)
    symm.meet()

    # Cell 4.
    right = True
    for round_ in range(3):
        for i in range(10):
            x[10 * i:10 * i + 10].fill_((7 * i + 13 * rank + round_) % 200)
        sum_.launch((1,), (128,), h, out, n, timeout=10)
        if not symm.values(out) == symm.values(symm.all_reduce(x, "sum")):
            right = False
    symm.show(right and size > 0)


if __name__ == "__main__":
    symm.main(run)
