"""Rendezvous handles: the addresses of all ranks' copies of a tensor, and signals between the ranks."""

from __future__ import annotations

import ctypes
import sys
import weakref
from typing import Any, Callable, Dict, List, Sequence, Tuple

import torch
from torch._C._distributed_c10d import _SymmetricMemory

from ..emulator import lines, watch
from ..emulator.errors import WaitTimeout
from ..emulator.memory import Mapping
from . import block, signals
from .errors import Mismatch, Misuse
from .groups import Group, device
from .memory import find, offset_in, unsuited, view

_MOST_PUTS = 64
"""Of an answer to the program that watches."""


class Handle(_SymmetricMemory):
    """The handle of an allocation in a group, with the attributes and methods of PyTorch's."""

    # _SymmetricMemory has no constructor. Instances are made by __new__ alone, in rendezvous, and override all that it has.
    # One keeps the memory of all ranks, and not its Allocation, which keeps the handle.
    _group: Group
    _size: int
    _pad_size: int
    _buffers: List[int]
    _pads: List[int]
    _kept: List[Any]
    _offset: int
    id: int
    """The number of the rendezvous in the group, the same on all ranks."""
    _barriers: Dict[int, int]  # how many, by channel
    _puts: Dict[Tuple[int, int], str]  # the line of the last signal to each rank on each channel

    rank = property(lambda self: self._group.rank)
    world_size = property(lambda self: self._group.size)
    buffer_size = property(lambda self: self._size)
    offset = property(lambda self: self._offset)
    buffer_ptrs = property(lambda self: list(self._buffers))
    signal_pad_ptrs = property(lambda self: list(self._pads))
    buffer_ptrs_dev = property(lambda self: ctypes.addressof(self._kept[0]))
    signal_pad_ptrs_dev = property(lambda self: ctypes.addressof(self._kept[1]))
    multicast_ptr = property(lambda self: 0)
    device = property(lambda self: torch.device("cpu"))

    def __repr__(self) -> str:
        return f"<symmrepl.torch.Handle of {self.buffer_size} bytes, rank {self.rank} of {self.world_size} in group {self._group.name}>"

    @property
    def _name(self) -> str:
        return f"{self._group.name}/{self.id}"

    def boxed(self) -> Any:
        raise self._refused("boxed", "the handle is one of Python: pass the handle itself")

    def get_buffer(self, rank: int, sizes: Sequence[int], dtype: torch.dtype, storage_offset: int = 0) -> torch.Tensor:
        return self._view("get_buffer", rank, self._buffers, self.buffer_size, sizes, dtype, storage_offset)

    def get_remote_tensor(self, peer: int, sizes: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        if self._offset % dtype.itemsize:
            raise self._refused("get_remote_tensor", f"the tensor begins at byte {self._offset} of its allocation, no multiple of {dtype}")
        return self._view("get_remote_tensor", peer, self._buffers, self.buffer_size, sizes, dtype, self._offset // dtype.itemsize)

    def get_signal_pad(
        self, rank: int, sizes: Sequence[int] = (), dtype: torch.dtype = torch.uint32, storage_offset: int = 0
    ) -> torch.Tensor:
        dtype = torch.uint32 if dtype is None else dtype
        if not len(sizes):
            sizes = [self._pad_size // dtype.itemsize - (storage_offset or 0)]
        return self._view("get_signal_pad", rank, self._pads, self._pad_size, sizes, dtype, storage_offset)

    def barrier(self, channel: int = 0, timeout_ms: int = 0) -> None:
        self._signal("barrier", "barrier", 0, channel, timeout_ms)

    def put_signal(self, dst_rank: int, channel: int = 0, timeout_ms: int = 0) -> None:
        self._peer("put_signal", dst_rank)
        self._signal("put_signal", "put", dst_rank, channel, timeout_ms)

    def wait_signal(self, src_rank: int, channel: int = 0, timeout_ms: int = 0) -> None:
        self._peer("wait_signal", src_rank)
        self._signal("wait_signal", "wait", src_rank, channel, timeout_ms)

    def get_peer_cft_handle(self, peer: int) -> Tuple[int, int]:
        raise self._refused("get_peer_cft_handle", "logical endpoints are NCCL's, of GPUs")

    def get_multimem_cft_handle(self) -> Tuple[int, int]:
        raise self._refused("get_multimem_cft_handle", "logical endpoints are NCCL's, of GPUs")

    def _refused(self, op: str, text: str) -> Misuse:
        return Misuse(self.rank, op, text)

    def _peer(self, op: str, rank: int) -> None:
        if not isinstance(rank, int):
            raise TypeError(f"{op}: a rank is an int, not {type(rank).__name__}")
        if not 0 <= rank < self.world_size:
            raise self._refused(op, f"rank {rank}: a rank of this group must be in [0, {self.world_size})")

    def _untaken(self) -> List[Tuple[int, int]]:
        """Returns the signals in this rank's pad that no wait has taken: the world rank and the channel of each."""
        words = (ctypes.c_uint32 * (self._pad_size // 4)).from_address(self._pads[self.rank])
        set_words = [i for i, word in enumerate(words) if word == 1]
        return [(self._group.members[i % self.world_size], i // self.world_size) for i in set_words[:8]]

    def _put(self) -> List[Dict[str, Any]]:
        """Returns the signals of this rank that no wait has taken."""
        found = []
        for (peer, channel), at in list(self._puts.items()):
            word = self._pads[peer] + 4 * (channel * self.world_size + self.rank)
            if ctypes.c_uint32.from_address(word).value == 1:
                found.append({"pad": self._name, "to": self._group.members[peer], "channel": channel, "at": at})
        return found

    def _view(
        self, op: str, rank: int, addresses: List[int], size: int, sizes: Sequence[int], dtype: torch.dtype, offset: int
    ) -> torch.Tensor:
        self._peer(op, rank)
        offset = offset or 0
        shape = tuple(int(n) for n in sizes)
        count = 1
        for n in shape:
            count *= n
        if offset < 0 or min(shape, default=0) < 0:
            raise self._refused(op, f"sizes {list(shape)} at element {offset}: none may be below 0")
        if (offset + count) * dtype.itemsize > size:
            end = (offset + count) * dtype.itemsize
            what = f"{count} elements of {dtype} from {offset} on end at byte {end}"
            raise self._refused(op, f"{what}, which exceeds the allocated size, {size}")
        stride, step = [], 1
        for n in reversed(shape):
            stride.insert(0, step)
            step *= max(n, 1)
        return view(addresses[rank], size, self, shape, stride, dtype, offset)

    def _signal(self, op: str, kernel: str, peer: int, channel: int, timeout_ms: int) -> None:
        for name, value in (("channel", channel), ("timeout_ms", timeout_ms)):
            if not isinstance(value, int):
                raise TypeError(f"{op}: {name} is an int, not {type(value).__name__}")
            if value < 0:
                raise self._refused(op, f"{name} is {value}, but must be non-negative")
        channels = self._pad_size // 4 // self.world_size
        if channel >= channels:
            pad = f"for a pad of {self._pad_size} bytes and {self.world_size} ranks"
            raise self._refused(op, f"channel {channel}: the maximum supported channel is {channels - 1}, {pad}")
        arguments = b"".join(p.to_bytes(8, "little") for p in self._pads).ljust(8 * 72, b"\0")
        arguments += self._group.context(timeout_ms / 1000, channels) + peer.to_bytes(4, "little") + channel.to_bytes(4, "little")
        collective = kernel == "barrier"
        if collective:
            self._barriers[channel] = self._barriers.get(channel, 0) + 1
        name = f"handle {self.id}, barrier {self._barriers[channel]} of channel {channel}" if collective else ""
        call = self._group.call(op, name, limit=timeout_ms / 1000, pad=self._name, untaken=self._untaken)
        if kernel == "put" and watch.watched():
            self._puts[peer, channel] = lines.described(lines.program_frame(sys._getframe(1)))
        try:
            device().launch(signals.kernel(kernel), (1, 1, 1), (self.world_size if collective else 1, 1, 1), arguments, call=call)
        except WaitTimeout as e:
            raise WaitTimeout(
                f"rank {self.rank}: {op} on channel {channel} with rank {e.peer} timed out after {timeout_ms} ms", e.peer, channel
            ) from None


_handles: List[weakref.ref[Handle]] = []


def puts() -> List[Dict[str, Any]]:
    """Returns the first signals that this rank has put and that no wait has taken. It may be called in any thread."""
    alive = (reference() for reference in list(_handles))
    return [p for h in alive if h is not None for p in h._put()][:_MOST_PUTS]


def _agreed(group: Group, mine: Dict[str, Any], everyone: List[Dict[str, Any]]) -> None:
    for r, theirs in enumerate(everyone):
        for word in ("size", "offset", "pad"):
            if theirs[word] != mine[word]:
                raise Mismatch(group.rank, "rendezvous", f"{word} is {mine[word]} bytes here and {theirs[word]} on rank {r}")


def rendezvous(tensor: torch.Tensor, resolve: Callable[[], Group]) -> Handle:
    """Returns the handle of a tensor in a group: the same one at each call. The first call is collective."""
    a = find(tensor)
    group = resolve()
    if a is None:
        raise Misuse(group.rank, "rendezvous", f"the tensor {unsuited(tensor)}")
    known = a.handles.get(group.name)
    offset = offset_in(tensor, a)
    if known is not None and known._group is group and known._offset == offset:
        return known
    mine = {"size": a.size, "offset": offset, "pad": a.pad_size, "memory": a.segment.name, "at": a.at}
    everyone = group.gather("rendezvous", **mine)
    number = group.calls
    _agreed(group, mine, everyone)
    h = Handle.__new__(Handle)
    h._group, h._size, h._pad_size, h._offset = group, a.size, a.pad_size, offset
    h.id, h._barriers, h._puts = number, {}, {}
    _handles[:] = [*(reference for reference in _handles if reference() is not None), weakref.ref(h)]
    h._buffers, h._pads, h._kept = [], [], []
    for r, theirs in enumerate(everyone):
        memory: Any = a.segment if r == group.rank else Mapping(theirs["memory"])
        h._buffers.append(memory.address + theirs["at"])
        h._pads.append(memory.address)
        h._kept.append(memory)
    h._kept[:0] = [(ctypes.c_uint64 * group.size)(*h._buffers), (ctypes.c_uint64 * group.size)(*h._pads)]
    group.gather("rendezvous")  # all have mapped before any may free
    block.of(group)
    a.handles[group.name] = h
    return h
