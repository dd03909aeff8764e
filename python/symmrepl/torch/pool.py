"""Memory pools of the CPU, which PyTorch does not have: what operators allocate while one is in use is symmetric."""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List, Optional

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from . import memory
from .errors import Misuse
from .mode import DispatchMode


class Allocator:
    """The allocator that `get_mempool_allocator` returns for the CPU."""


class MemPool:
    """A pool, as `torch.cuda.MemPool` is. It keeps its memory, and gives the memory of tensors that are gone to others of their size."""

    def __init__(self, allocator: Optional[Allocator] = None, **_: Any) -> None:
        if not isinstance(allocator, Allocator):
            raise Misuse(None, "MemPool", "a pool of the CPU is symmetric: pass symm_mem.get_mempool_allocator(device)")
        self._known: Dict[int, List[memory.Allocation]] = {}  # by size

    def take(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns a tensor with the storage of another one, copied into the pool."""
        storage = tensor.untyped_storage()
        known = self._known.setdefault(storage.nbytes(), [])
        a = next((a for a in known if a.used is None or a.used() is None), None)
        if a is None:
            a = memory.allocate(storage.nbytes(), memory.described(tensor.dtype, tensor.shape), tensor.dtype.itemsize)
            known.append(a)
        a.handles.clear()  # a rendezvous of the next tensor is one of its own
        content = memory.over(a, (storage.nbytes(),), (1,), torch.uint8)
        content.copy_(torch.empty(0, dtype=torch.uint8).set_(storage))  # by ATen, which the sanitizer sees
        return memory.over(a, tensor.shape, tensor.stride(), tensor.dtype, tensor.storage_offset())


class _Route(DispatchMode):
    """Puts what operators allocate into a pool."""

    def __init__(self, pool: MemPool) -> None:
        super().__init__()
        self._pool = pool

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        known = {_storage(t) for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        return tree_map_only(torch.Tensor, lambda t: self._pool.take(t) if _ours(t) and _storage(t) not in known else t, results)


def _ours(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.layout is torch.strided and memory.find(tensor) is None


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """What operators of this thread allocate is in the pool, as `torch.cuda.use_mem_pool` does."""
    if not isinstance(pool, MemPool):
        raise Misuse(None, "use_mem_pool", f"a pool of the CPU is one of symm_mem.get_mem_pool, and not of {type(pool).__name__}")
    with _Route(pool):
        yield
