"""Begins a program of this folder: ``torchrun --nproc-per-node 4 NAME.py cpu`` or ``cuda``, and ``--broken`` for its defect.

On cuda the programs need PyTorch alone. If there are more ranks than GPUs, the ranks share them.
"""

import os
import sys

import torch
import torch.distributed as dist

device, broken = torch.device(sys.argv[1]), "--broken" in sys.argv
if device.type == "cuda":
    os.environ["TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES"] = "1"
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    compile_kernel = torch.cuda._compile_kernel
else:
    import symmrepl.torch

    compile_kernel = symmrepl.torch.compile
dist.init_process_group("gloo")
group, rank, world = dist.group.WORLD, dist.get_rank(), dist.get_world_size()
right, left = (rank + 1) % world, (rank - 1) % world


def equal(got, want):
    """Asserts the elements of a tensor."""
    got, want = got.tolist(), want.tolist() if isinstance(want, torch.Tensor) else want
    assert got == want, f"rank {rank}: {str(got)[:200]} is not {str(want)[:200]}"


def end():
    """Ends the program when all ranks have come: until then peers may read this rank's memory."""
    dist.barrier()
    sys.stdout.write("right\n")
    dist.destroy_process_group()
