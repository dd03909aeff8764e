"""Puts the cpu device into PyTorch's module: what is asked for another device goes to PyTorch's own functions."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence

import torch
import torch.distributed._symmetric_memory as symm_mem
from torch._C._distributed_c10d import _SymmetricMemory

from ..emulator import watch
from . import collectives, gpu, groups, handle, inductor, lent, memory, operators
from .operators import gather, onesided, tiles, words
from .pool import Allocator, MemPool
from .pool import use_mem_pool as use_cpu_pool

BACKEND = "SYMMREPL"
_installed = False


def install() -> None:
    """Installs the cpu device once."""
    global _installed
    if _installed:
        return
    operators.register()
    _patch()
    inductor.install()
    watch.explain, watch.puts = collectives.explain, handle.puts
    lent.install()
    watch.start()
    if watch.watched() and torch.version.cuda is not None:
        gpu.install()
    _installed = True


def _patch() -> None:
    names = (
        "empty_strided_p2p", "rendezvous", "is_symm_mem_tensor", "get_backend", "set_backend", "has_multicast_support", "set_group_info",
        "memset32", "stream_write_value32", "get_mempool_allocator",
    )  # fmt: skip
    theirs = {name: getattr(_SymmetricMemory, name) for name in names if hasattr(_SymmetricMemory, name)}  # 2.11 has not all

    def on_cpu(device: Any) -> bool:
        return torch.device(device).type == "cpu"

    def empty_strided_p2p(
        size: Sequence[int],
        stride: Sequence[int],
        dtype: torch.dtype,
        device: Any,
        group_name: Optional[str] = None,
        alloc_id: Optional[int] = None,
    ) -> torch.Tensor:
        if not on_cpu(device):
            return theirs["empty_strided_p2p"](size, stride, dtype, device, group_name, alloc_id)
        tensor = memory.empty_strided(size, stride, dtype, alloc_id)
        if group_name is not None:
            a = memory.find(tensor)
            assert a is not None
            a.group = group_name
        return tensor

    def rendezvous(tensor: torch.Tensor, group_name: Optional[str] = None) -> Any:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"rendezvous takes a tensor, not {type(tensor).__name__}")
        if tensor.device.type != "cpu":
            return theirs["rendezvous"](tensor, group_name)
        a = memory.find(tensor)
        if a is None and group_name is None:
            return None  # as PyTorch's: so code asks whether a tensor is symmetric
        name = group_name if group_name is not None or a is None else a.group
        return handle.rendezvous(tensor, lambda: groups.resolve(name, "rendezvous"))

    def is_symm_mem_tensor(tensor: torch.Tensor) -> bool:
        return memory.find(tensor) is not None if tensor.device.type == "cpu" else theirs["is_symm_mem_tensor"](tensor)

    def get_backend(device: Any) -> Optional[str]:
        return BACKEND if on_cpu(device) else theirs["get_backend"](device)

    def set_backend(name: str) -> None:
        if name != BACKEND and not (name in ("CUDA", "NVSHMEM", "NCCL") and not torch.accelerator.is_available()):
            theirs["set_backend"](name)  # without GPUs the cpu device serves the interfaces of all

    def has_multicast_support(device_type: Any, device_idx: int) -> bool:
        return False if str(device_type).upper().endswith("CPU") else theirs["has_multicast_support"](device_type, device_idx)

    def set_group_info(group_name: str, rank: int, world_size: int, store: Any) -> None:
        groups.set_group_info(group_name, rank, world_size, store)
        theirs["set_group_info"](group_name, rank, world_size, store)

    def memset32(tensor: torch.Tensor, offset: int, val: int, count: int = 1) -> torch.Tensor:
        function = words.memset32_ if tensor.device.type == "cpu" else theirs["memset32"]
        return function(tensor, offset, val, count)

    def stream_write_value32(tensor: torch.Tensor, offset: int, val: int) -> torch.Tensor:
        function = words.stream_write_value32_ if tensor.device.type == "cpu" else theirs["stream_write_value32"]
        return function(tensor, offset, val)

    def get_mempool_allocator(device: Any) -> Any:
        if on_cpu(device):
            return Allocator()
        return theirs["get_mempool_allocator"](device)

    ours = locals()
    for name in theirs:
        setattr(_SymmetricMemory, name, staticmethod(ours[name]))

    def is_symm_mem_enabled_for_group(group_name: str) -> bool:
        if symm_mem._is_test_mode or torch.accelerator.is_available():
            return function_of["is_symm_mem_enabled_for_group"](group_name)
        try:
            groups.c10d._resolve_process_group(group_name)
        except (RuntimeError, ValueError):
            return False
        return True

    def get_mem_pool(device: Any) -> Any:
        if not on_cpu(device):
            return function_of["get_mem_pool"](device)
        return symm_mem._symm_mem_pools.setdefault(torch.device("cpu"), MemPool(Allocator()))

    use_pool = torch.cuda.use_mem_pool

    @functools.wraps(use_pool)
    def use_mem_pool(pool: Any, device: Any = None) -> Any:
        return (use_cpu_pool if isinstance(pool, MemPool) else use_pool)(pool, device)

    use_mem_pool.__wrapped__ = use_pool.__wrapped__  # type: ignore[attr-defined]  # which torch.compile knows
    torch.cuda.use_mem_pool = use_mem_pool
    torch.cpu.MemPool, torch.cpu.use_mem_pool = MemPool, use_cpu_pool  # type: ignore[attr-defined]

    def get_symm_mem_workspace(group_name: str, min_size: int) -> Any:
        if torch.accelerator.is_available():
            return function_of["get_symm_mem_workspace"](group_name, min_size)
        known = symm_mem._group_name_to_workspace_tensor.get(group_name)
        if known is None or known.nbytes < min_size:
            known = memory.empty_strided((max(min_size, 0 if known is None else known.nbytes),), (1,), torch.uint8)
            symm_mem._group_name_to_workspace_tensor[group_name] = known
        return rendezvous(known, group_name)

    def get_copy(dst: torch.Tensor, hdl: Any, peer: int, offset: int = 0) -> None:
        if not isinstance(hdl, handle.Handle):
            return function_of["get"](dst, hdl, peer, offset)
        return onesided.get(dst, hdl, peer, offset)

    def put_signal(src: torch.Tensor, hdl: Any, peer: int) -> None:
        (onesided.nccl_put_signal if isinstance(hdl, handle.Handle) else function_of["put_signal"])(src, hdl, peer)

    def wait_signal(hdl: Any, peer: int) -> None:
        (onesided.nccl_wait_signal if isinstance(hdl, handle.Handle) else function_of["wait_signal"])(hdl, peer)

    def reduce_scatter_offset(
        input: torch.Tensor,
        out: List[torch.Tensor],
        group: str,
        *,
        dim: int,
        offsets: Optional[List[int]] = None,
        dst_ranks: Optional[List[int]] = None,
        red_op: str = "sum",
    ) -> None:
        if input.device.type == "cpu":
            tiles.nccl_reduce_scatter_offset(input, out, group, dim, offsets, dst_ranks, red_op)
        else:
            function_of["reduce_scatter_offset"](input, out, group, dim=dim, offsets=offsets, dst_ranks=dst_ranks, red_op=red_op)

    def all_to_all_nd(input: torch.Tensor, out: torch.Tensor, scatter_dim: int, gather_dim: int, *, group: str) -> None:
        if input.device.type == "cpu":
            gather.nccl_all_to_all_nd(input, out, scatter_dim, gather_dim, group)
        else:
            function_of["all_to_all_nd"](input, out, scatter_dim, gather_dim, group=group)

    replaced = (
        (get_symm_mem_workspace, "get_symm_mem_workspace"), (get_mem_pool, "get_mem_pool"),
        (is_symm_mem_enabled_for_group, "is_symm_mem_enabled_for_group"), (get_copy, "get"), (put_signal, "put_signal"), (wait_signal, "wait_signal"),
        (reduce_scatter_offset, "reduce_scatter_offset"), (all_to_all_nd, "all_to_all_nd"),
    )  # fmt: skip
    function_of = {name: getattr(symm_mem, name) for _, name in replaced if hasattr(symm_mem, name)}
    for function, name in replaced:
        if name in function_of:
            function.__name__, function.__doc__ = name, function_of[name].__doc__
            setattr(symm_mem, name, function)
