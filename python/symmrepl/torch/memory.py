"""Symmetric tensors: memory of this process that the other ranks map at the rendezvous."""

from __future__ import annotations

import bisect
import ctypes
import mmap
import weakref
from typing import Any, Dict, List, Optional, Sequence

import torch
from torch._C._distributed_c10d import _SymmetricMemory

from ..emulator.memory import Part, Segment, of_another
from .errors import Misuse


_APART = 64
"""The bytes between parts of an allocation: an access a little beyond one of them is in no other."""


class Allocation:
    """What one call of `empty` allocates: a signal pad, and from the next page on the tensor's memory.

    handles has the handles by the names of groups.
    """

    def __init__(self, size: int, pad_size: int, name: str, element: int) -> None:
        self.size, self.pad_size = size, pad_size
        self.word = -(-pad_size // 8) * 8 + _APART  # where the segment has the word that nccl_put_with_signal sets
        self.at = -(-(self.word + 8 + _APART) // mmap.PAGESIZE) * mmap.PAGESIZE
        pad, word = Part(0, pad_size, f"the signal pad of {name}", "word", 4), Part(self.word, 8, f"the signal of {name}", "word", 8)
        self.segment = Segment(self.at + max(size, 1), [pad, word, Part(self.at, size, name, "element", element)])
        self.address = self.segment.address + self.at
        self.handles: Dict[str, Any] = {}
        self.group: Optional[str] = None  # the group of a rendezvous that names none
        self.used: Optional[weakref.ref[Any]] = None  # alive while a tensor over the memory is


class _Bytes:
    """The allocations of this process, by address. They live as long as their tensors and handles."""

    def __init__(self) -> None:
        self.starts: List[int] = []
        self.known: Dict[int, weakref.ref[Allocation]] = {}

    def add(self, a: Allocation) -> None:
        bisect.insort(self.starts, a.address)
        self.known[a.address] = weakref.ref(a)
        weakref.finalize(a, self.remove, a.address)

    def remove(self, address: int) -> None:
        del self.starts[bisect.bisect_left(self.starts, address)]
        del self.known[address]

    def find(self, address: int) -> Optional[Allocation]:
        i = bisect.bisect_right(self.starts, address)
        a = self.known[self.starts[i - 1]]() if i else None
        return a if a is not None and address < a.address + max(a.size, 1) else None

    def of_pad(self, address: int) -> Optional[Allocation]:
        i = bisect.bisect_right(self.starts, address)
        a = self.known[self.starts[i]]() if i < len(self.starts) else None
        return a if a is not None and 0 <= address - a.segment.address < a.pad_size else None


_allocations = _Bytes()
_persistent: Dict[int, Allocation] = {}  # by alloc_id


def find(tensor: torch.Tensor) -> Optional[Allocation]:
    """Returns the allocation that a tensor of the CPU lies in, or None."""
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided:
        return None
    return _allocations.find(tensor.untyped_storage().data_ptr())  # an empty tensor has no address of its own


def unsuited(tensor: torch.Tensor) -> str:
    """Says why a tensor lies in no allocation of this process, after its name."""
    if tensor.device.type == "cpu" and tensor.layout is torch.strided and of_another(tensor.data_ptr()):
        return "is the memory of another rank: pass this rank's tensor, whose copy on the other rank the call finds"
    return "is not symmetric: allocate it by symm_mem.empty"


def find_pad(tensor: torch.Tensor) -> Optional[Allocation]:
    """Returns the allocation in whose signal pad, that of this process, a tensor begins, or None."""
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided:
        return None
    return _allocations.of_pad(tensor.data_ptr())


def offset_in(tensor: torch.Tensor, a: Allocation) -> int:
    """Returns the offset of a tensor in its allocation, in bytes."""
    return tensor.untyped_storage().data_ptr() - a.address + tensor.storage_offset() * tensor.element_size()


def view(
    address: int, size: int, owner: object, shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype, offset: int = 0
) -> torch.Tensor:
    """Returns a tensor over memory that owner keeps. offset is in elements."""
    return _over(_content(address, size, owner), shape, stride, dtype, offset)


def _content(address: int, size: int, owner: object) -> Any:
    content = (ctypes.c_char * max(size, 1)).from_address(address)
    content.owner = owner  # type: ignore[attr-defined]
    return content


def _over(content: Any, shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype, offset: int) -> torch.Tensor:
    storage = torch.frombuffer(content, dtype=torch.uint8).untyped_storage()  # it keeps content
    return torch.empty(0, dtype=dtype).set_(storage, offset, shape, stride)


def described(dtype: torch.dtype, shape: Sequence[int]) -> str:
    """Returns how findings name a tensor: ``float32[4, 8]``."""
    return f"{str(dtype).rpartition('.')[2]}{list(shape)}"


def allocate(size: int, name: str, element: int) -> Allocation:
    """Returns new memory of zeros. name and the size of its elements are what findings say of it."""
    a = Allocation(size, _SymmetricMemory.signal_pad_size, name, element)
    _allocations.add(a)
    return a


def over(a: Allocation, shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype, offset: int = 0) -> torch.Tensor:
    """Returns a tensor over an allocation, which is in use as long as its storage. offset is in elements."""
    content = _content(a.address, a.size, a)
    a.used = weakref.ref(content)
    return _over(content, shape, stride, dtype, offset)


def empty_strided(shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype, alloc_id: Optional[int] = None) -> torch.Tensor:
    """Returns a symmetric tensor of zeros. With the alloc_id of an earlier one, which nothing uses any more, it has the same memory."""
    op = "empty_strided_p2p"
    if len(shape) != len(stride) or any(n < 0 for n in (*shape, *stride)):
        raise Misuse(None, op, f"sizes {list(shape)} with strides {list(stride)}: as many of each, and none below 0")
    last = sum((n - 1) * s for n, s in zip(shape, stride)) if 0 not in shape else -1
    size = (last + 1) * dtype.itemsize
    a = _persistent.get(alloc_id) if alloc_id is not None else None
    if a is None:
        a = allocate(size, described(dtype, shape), dtype.itemsize)
        if alloc_id is not None:
            _persistent[alloc_id] = a
    elif a.size != size:
        raise Misuse(None, op, f"the allocation with alloc_id {alloc_id} has {a.size} bytes, not {size}")
    elif a.used is not None and a.used() is not None:
        raise Misuse(None, op, f"a tensor with alloc_id {alloc_id} is still active")
    return over(a, shape, stride, dtype)
