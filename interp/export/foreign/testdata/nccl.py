"""A session of symmrepl as a module for PyTorch's symmetric memory.

    torchrun --nproc-per-node 4 nccl.py           runs the cells, one process for each rank
    torchrun --nproc-per-node 4 nccl.py --test    also compares what it does with torch.distributed; exit status 1 if anything is wrong

It needs a GPU, torch and cuda-bindings, and symm_torch.py and symm_include beside it. Ranks may share a GPU. Another program imports
the kernels: "from nccl import ..." after symm_torch.start().
"""

import torch

import symm_torch as symm

# A kernel includes mine.cuh, which is a file of yours: put it into symm_include.

# Cell 2.
# one_shot is a kernel of nccl_device.h: it takes NCCL's own device communicator (ncclDevComm) and windows (ncclWindow_t) by value, which
# PyTorch's symmetric memory does not make. Its text is here; a program launches it so:
#
#   1. With NCCL 2.29.7 or later, compile the text with NCCL's own nccl_device.h, of the version that is loaded at run time: the layout
#      of ncclDevComm changes between versions. pip's nvidia-nccl-cu13 has it in nvidia/nccl/include.
#   2. Take PyTorch's communicator: comm = dist.group.WORLD._get_backend(torch.device("cuda"))._comm_ptr(), after a collective.
#   3. Allocate the tensors by ncclMemAlloc (torch.distributed._symmetric_memory.empty with TORCH_SYMMMEM=NCCL does) and call
#      ncclCommWindowRegister(comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC) for each, on all ranks.
#   4. ncclDevCommRequirements reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER; reqs.lsaBarrierCount = the number of blocks; and
#      ncclDevCommCreate(comm, &reqs, &devComm), on all ranks.
#   5. Launch by cuLaunchKernel with pointers to devComm and the window as kernelParams: both are copied.
source2 = r"""
#include <nccl_device.h>
__global__ void one_shot(ncclDevComm comm, ncclWindow_t win, float* out, int n) {
  ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
  bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = ((float*)ncclGetLsaPointer(win, 0, 0))[i];
}"""

# Cell 3.
source3 = symm.Source(
    r"""
#include <cuda_fp16.h>
#include "mine.cuh"
__global__ void shared(half* x) { extern __shared__ half s[]; s[threadIdx.x] = x[threadIdx.x]; }
""",
    "cell3.cu",
)
shared = source3.kernel("shared", "half*")


def run():
    # Cell 1.
    rank = symm.rank()
    x = symm.empty(torch.float32, 64).fill_(rank + 1)
    # Not carried over, because PyTorch's symmetric memory has no symm.Window:
    #     w := symm.Window(x)
    # Not carried over, because PyTorch's symmetric memory has no symm.DevComm:
    #     comm := symm.DevComm(symm.DevReqs{LsaBarriers: 4})
    symm.meet()

    # Cell 2.
    # Not carried over, because one_shot needs NCCL's own device communicator: see source2:
    #     oneShot := symm.Compile(`
    #     #include <nccl_device.h>
    #     __global__ void one_shot(ncclDevComm comm, ncclWindow_t win, float* out, int n) {
    #       ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
    #       bar.sync(ncclCoopCta(), cuda::memory_order_acquire);
    #       for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = ((float*)ncclGetLsaPointer(win, 0, 0))[i];
    #     }`)
    out = symm.local(torch.float32, 64)
    # Not carried over, because oneShot of cell 2 is not carried over:
    #     oneShot.Launch(symm.Grid(1), symm.Block(64), comm, w, out, 64)
    symm.show(symm.values(out)[0])
    symm.meet()

    # Cell 3.
    # Not carried over, because types are not carried over:
    #     type point struct{ x, y int }
    # Not carried over, because structs are not carried over:
    #     p := point{1, 2}
    # Not carried over, because only variables and their elements are assigned to:
    #     p.x = 3
    total = rank
    # Not carried over, because there is no p.x in Python:
    #     total += p.x
    shared.launch((1,), (32,), symm.local(torch.float16, 32), shared=64)
    # Not carried over, because total of cell 3 is not carried over:
    #     total


if __name__ == "__main__":
    symm.main(run)
