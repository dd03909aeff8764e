"""What every process of PyTorch's tests has before them: the cpu device, and nothing skipped for want of GPUs.

main.py writes an import of this module at the top of each file of tests, and replaces what CHANGES says.
"""

import os
import re
import unittest

RANKS = int(os.environ.get("SYMMREPL_TEST_RANKS", "4"))

CHANGES = [
    (r'torch\.device\((?:device_type|"cuda"), (?:self\.)?rank\)', 'torch.device("cpu")', "the CPU is one device, without an index"),
    (r'"cuda(?::0)?"', '"cpu"', "the device"),
    (r"\bempty_strided_cuda\b", "empty_strided_cpu", "the device, in texts that Inductor writes"),
    (r'(library\.impl\([^()]*)"CUDA"\)', r'\1"CPU")', "the device, as a key of the dispatcher"),
    (
        r"\btorch\.cuda\.(set_device|synchronize|device_count|current_device|Stream|stream|current_stream|Event|MemPool|use_mem_pool)\b",
        r"torch.cpu.\1",
        "functions of the device's module",
    ),
    (r'(script = f"""\nimport torch\n)', r"\1import on_cpu\n\non_cpu.lift()\n", "programs that a test starts"),
    (r"torch\.histc\((\w+),", r"torch.histc(\1.float(),", "ATen has no histogram of integers on the CPU"),
    (r'backend="nccl"', 'backend="gloo"', "the process groups of the CPU are gloo's"),
]
"""What is replaced in a file: a pattern, its replacement, and why."""


def changed(text: str) -> str:
    """Returns a file of tests as it runs on the CPU."""
    for pattern, replacement, _ in CHANGES:
        text = re.sub(pattern, replacement, text)
    return "import on_cpu\n\non_cpu.lift()\n\n" + text


class _Gather:
    """An operator that gathers 8-bit floats, which gloo does not carry, as bytes."""

    def __init__(self, packet):
        self._packet = packet

    def __call__(self, tensor, *rest):
        import torch

        if tensor.dtype.itemsize > 1 or not tensor.dtype.is_floating_point:
            return self._packet(tensor, *rest)
        joined = self._packet(tensor.view(torch.uint8), *rest)
        return torch.ops._c10d_functional.wait_tensor(joined).view(tensor.dtype)

    def __getattr__(self, name):
        return getattr(self._packet, name)


def lift() -> None:
    """Makes the conditions of tests those of a machine with RANKS devices that do all that the cpu device does."""
    import torch
    from torch._C._distributed_c10d import _SymmetricMemory
    from torch.testing._internal import common_cuda, common_distributed, common_utils

    import symmrepl.torch  # noqa: F401

    def always(*_, **__):
        return lambda decorated: decorated

    torch.set_num_threads(1)
    torch.cpu.device_count = lambda: RANKS  # each rank is a device, as on GPUs
    common_utils.requires_cuda = always()
    common_utils.requires_cuda_p2p_access = always
    common_distributed.requires_multicast_support = always  # the operators read and write all copies
    common_distributed.PLATFORM_SUPPORTS_SYMM_MEM = True
    common_distributed.skip_if_lt_x_gpu = lambda n, **_: always() if n <= RANKS else unittest.skip(f"for {n} ranks")
    common_distributed.MultiProcContinuousTest.device_type = classmethod(lambda cls: "cpu")  # a build for CUDA says "cuda"
    common_cuda.SM89OrLater = True  # ATen multiplies 8-bit floats

    torch.ops._c10d_functional.all_gather_into_tensor = _Gather(torch.ops._c10d_functional.all_gather_into_tensor)

    multicast = _SymmetricMemory.has_multicast_support
    _SymmetricMemory.has_multicast_support = staticmethod(lambda kind, device: str(kind).endswith("CUDA") or multicast(kind, device))
