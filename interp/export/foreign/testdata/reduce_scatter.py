"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node 4 reduce_scatter.py           runs the cells, one process for each rank
    torchrun --nproc-per-node 4 reduce_scatter.py --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from reduce_scatter import ..." after symm_torch.start().
"""

import torch

import symm_torch as symm

# Cell 2.
source2 = symm.Source(
    r"""
template <int kUnroll>
__global__ void reduce_scatter(const __grid_constant__ symm::Handle h, symm::bf16* out, unsigned part) {
  if (!symm::barrier(h, blockIdx.x)) return;
  unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < part; i += stride) {
    float total = 0;
#pragma unroll kUnroll
    for (int p = 0; p < h.world_size; p++) total += symm::to_float(h.buffer<symm::bf16>(p)[h.rank * part + i]);
    out[i] = symm::to_bf16(total);
  }
  symm::barrier(h, blockIdx.x);
}""",
    "cell2.cu",
)
reduce_scatter = source2.kernel("reduce_scatter<4>", "symm::Handle", "__nv_bfloat16*", "unsigned")


def run():
    # Cell 1.
    part = 4096
    rank, size = symm.rank(), symm.world_size()
    x = symm.rand(symm.empty(torch.bfloat16, size * part), 42 + rank)
    h = symm.rendezvous(x)
    out = symm.local(torch.bfloat16, part)
    symm.meet()

    # Cell 2.
    blocks, threads = 8, 256
    reduce_scatter.launch((blocks,), (threads,), h, out, part)
    ours = symm.values(out)
    symm.meet()

    # Cell 3.
    def differs(a, b):
        largest = 0.0
        for i in range(len(a)):
            largest = max(largest, abs(a[i] - b[i]))
        return largest

    theirs = symm.values(symm.reduce_scatter(x, "sum"))
    worst = 0.0
    for i in range(len(ours)):
        worst = max(worst, abs(ours[i] - theirs[i]) / float(size))
    symm.show(worst <= 1.0 / 64.0)
    symm.meet()

    # Cell 4.
    # Not carried over, because there is no rand.Perm in Python:
    #     shuffled := rand.Perm(4)
    # Not carried over, because Python has no goroutine as Go has:
    #     go func() { _ = shuffled }()
    # Not carried over, because shuffled of cell 4 is not carried over:
    #     len(shuffled)


if __name__ == "__main__":
    symm.main(run)
