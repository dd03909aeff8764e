"""One-sided operators: they reach the memory of one other rank, which does not take part. Waits for words that others set."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import torch
import torch.distributed as dist

from .. import block, memory
from ..errors import Misuse
from ..groups import device
from ..handle import Handle, rendezvous
from .call import Call, brief, row


def _world(op: str) -> Call:
    """Returns a call among all ranks: these operators name no group."""
    world = dist.group.WORLD
    return Call(op, "0" if world is None else world.group_name)


def _other(c: Call, name: str, tensor: torch.Tensor, peer: int) -> int:
    """Returns the address of a rank's copy of a symmetric tensor."""
    c.contiguous(name, tensor)
    c.member("peer", peer)
    return c.known(name, tensor)[peer]


@row("copy_rows")
def nvshmem_put(tensor: torch.Tensor, peer: int) -> None:
    c = _world("nvshmem_put")
    c.copy(_other(c, "tensor", tensor, peer), tensor.data_ptr(), tensor.nbytes)


@row("copy_rows")
def nvshmem_get(tensor: torch.Tensor, peer: int) -> None:
    c = _world("nvshmem_get")
    c.copy(tensor.data_ptr(), _other(c, "tensor", tensor, peer), tensor.nbytes)


@row("copy_rows")
def nccl_put(tensor: torch.Tensor, peer: int) -> None:
    c = _world("nccl_put")
    c.copy(_other(c, "tensor", tensor, peer), tensor.data_ptr(), tensor.nbytes)


@row("copy_rows")
def nccl_get(tensor: torch.Tensor, peer: int) -> None:
    c = _world("nccl_get")
    c.copy(tensor.data_ptr(), _other(c, "tensor", tensor, peer), tensor.nbytes)


def _word(c: Call, sigpad: torch.Tensor) -> Tuple[Handle, bool, int]:
    """Returns where the first word of 64 bits of a tensor lies: the handle, whether in the signal pad, and the offset there."""
    if sigpad.nbytes < 8 or sigpad.data_ptr() % 8:
        raise c.refuse(f"sigpad is {brief(sigpad)}: it must begin with a word of 64 bits, at a multiple of 8 bytes")
    pad = memory.find_pad(sigpad)
    a = memory.find(sigpad) if pad is None else pad
    h: Optional[Handle] = None if a is None else a.handles.get(c.group.name)
    if a is None or h is None:
        raise c.refuse("sigpad is no signal pad of this rank, and no symmetric tensor that all ranks have passed to rendezvous")
    return h, pad is not None, sigpad.data_ptr() - (a.segment.address if pad is not None else a.address)


def _put_with_signal(c: Call, dst: int, tensor: torch.Tensor, word: int, value: int) -> None:
    d = device()
    arguments = d.pack("PutWithSignalArgs", dst=dst, src=tensor.data_ptr(), n=tensor.nbytes, word=word, value=value)
    d.launch(d.operation("put_with_signal"), (1, 1, 1), (256, 1, 1), arguments, call=c.group.call(c.op))


def _wait_for_signal(c: Call, word: int, value: int, index: int, at_least: bool) -> None:
    d = device()
    arguments = d.pack("WaitForSignalArgs", context=c.group.context(), word=word, value=value, index=index, at_least=int(at_least))
    d.launch(d.operation("wait_for_signal"), (1, 1, 1), (1, 1, 1), arguments, call=c.group.call(c.op))


@row("put_with_signal")
def nvshmem_put_with_signal(tensor: torch.Tensor, sigpad: torch.Tensor, signal: int, peer: int) -> None:
    """Copies a tensor to a rank, and then sets the first word of sigpad there."""
    c = _world("nvshmem_put_with_signal")
    dst = _other(c, "tensor", tensor, peer)
    h, in_pad, offset = _word(c, sigpad)
    _put_with_signal(c, dst, tensor, (h.signal_pad_ptrs if in_pad else h.buffer_ptrs)[peer] + offset, signal)


@row("wait_for_signal")
def nvshmem_wait_for_signal(sigpad: torch.Tensor, signal: int, peer: int) -> None:
    """Waits until the first word of sigpad has this value."""
    c = _world("nvshmem_wait_for_signal")
    c.member("peer", peer)
    _, _, offset = _word(c, sigpad)
    _wait_for_signal(c, sigpad.data_ptr(), signal, offset // 8, False)


@row("put_with_signal")
def nccl_put_with_signal(tensor: torch.Tensor, signal: int, peer: int) -> None:
    """Copies a tensor to a rank, and then sets a word of the tensor's allocation there, which is not in its signal pad."""
    c = _world("nccl_put_with_signal")
    dst = _other(c, "tensor", tensor, peer)
    a = memory.find(tensor)
    assert a is not None
    _put_with_signal(c, dst, tensor, a.handles[c.group.name].signal_pad_ptrs[peer] + a.word, signal)


@row("wait_for_signal")
def nccl_wait_for_signal(sigpad: torch.Tensor, signal: int) -> None:
    """Waits until the word of a tensor's allocation is not below this value. A view of its signal pad stands for it."""
    c = _world("nccl_wait_for_signal")
    a = memory.find_pad(sigpad) or memory.find(sigpad)
    if a is None or c.group.name not in a.handles:
        raise c.refuse("sigpad is no signal pad of this rank, and no symmetric tensor that all ranks have passed to rendezvous")
    _wait_for_signal(c, a.segment.address + a.word, signal, 0, True)


def _of_handle(op: str, hdl: Any) -> Call:
    if not isinstance(hdl, Handle):
        raise Misuse(None, op, f"the handle is {type(hdl).__name__}: pass what symm_mem.rendezvous returned for a tensor of the CPU")
    return Call(op, hdl._group.name)


def _get_out(op: str, dst: torch.Tensor, hdl: Any, offset: int, size: int, peer: int) -> None:
    c = _of_handle(op, hdl)
    c.member("peer", peer)
    c.contiguous("dst", dst)
    if offset < 0 or not 0 <= size <= dst.numel():
        raise c.refuse(f"{size} elements from {offset} on: dst has {dst.numel()}")
    start, end = (hdl.offset + i * dst.element_size() for i in (offset, offset + size))
    if end > hdl.buffer_size:
        raise c.refuse(f"{size} elements of {dst.dtype} from {offset} on end at byte {end}: the allocation has {hdl.buffer_size}")
    c.copy(dst.data_ptr(), hdl.buffer_ptrs[peer] + start, size * dst.element_size())


@row("copy_rows")
def nvshmem_get_out(dst: torch.Tensor, hdl: Any, offset: int, size: int, peer: int) -> None:
    _get_out("nvshmem_get_out", dst, hdl, offset, size, peer)


@row("copy_rows")
def nccl_get_out(dst: torch.Tensor, hdl: Any, offset: int, size: int, peer: int) -> None:
    _get_out("nccl_get_out", dst, hdl, offset, size, peer)


def _peer(c: Call, hdl: Any, peer: int) -> None:
    c.member("peer", peer)
    if peer == c.group.rank:
        raise c.refuse(f"rank {peer} is this rank")


@row("copy_rows, signal_add")
def nccl_put_signal(src: torch.Tensor, hdl: Any, peer: int) -> None:
    """Copies src to the tensor of a handle at a rank, and then counts one signal there."""
    c = _of_handle("nccl_put_signal", hdl)
    _peer(c, hdl, peer)
    c.contiguous("src", src)
    if hdl.offset + src.nbytes > hdl.buffer_size:
        raise c.refuse(f"src has {src.nbytes} bytes, and the allocation of the handle {hdl.buffer_size - hdl.offset} from its tensor on")
    c.copy(hdl.buffer_ptrs[peer] + hdl.offset, src.data_ptr(), src.nbytes)
    d = device()
    word = block.of(c.group).count(peer, c.group.rank)
    arguments = d.pack("SignalAddArgs", word=word, value=1)
    d.launch(d.operation("signal_add"), (1, 1, 1), (1, 1, 1), arguments, call=c.group.call(c.op))


@row("wait_for_signal")
def nccl_wait_signal(hdl: Any, peer: int) -> None:
    """Waits for one signal of a rank that no earlier call has awaited."""
    c = _of_handle("nccl_wait_signal", hdl)
    _peer(c, hdl, peer)
    b = block.of(c.group)
    _wait_for_signal(c, b.count(c.group.rank, peer), b.awaited[peer] + 1, peer, True)
    b.awaited[peer] += 1


@row("barrier")
def _barrier(symm: Any) -> None:
    _of_handle("_barrier", symm)
    symm.barrier()


@row("none")
def _rendezvous(tensor: torch.Tensor, group_name: Optional[str] = None) -> Handle:
    c = Call("_rendezvous", group_name) if group_name is not None else _world("_rendezvous")
    return rendezvous(tensor, lambda: c.group)


BY_HANDLE = (_barrier, _rendezvous, nccl_get_out, nccl_put_signal, nccl_wait_signal, nvshmem_get_out)
"""The operators that take or return a handle, which PyTorch's dispatcher knows as an object of C++ only."""


class ByHandle:
    """An operator of torch.ops.symm_mem with a row for handles of the cpu device. Other calls go to PyTorch's operator."""

    def __init__(self, packet: Any, function: Callable[..., Any]) -> None:
        self._packet, self._function = packet, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values: Tuple[Any, ...] = (*args, *kwargs.values())
        if any(isinstance(x, Handle) or isinstance(x, torch.Tensor) and x.device.type == "cpu" for x in values):
            return self._function(*args, **kwargs)
        return self._packet(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._packet, name)


def get(dst: torch.Tensor, hdl: Handle, peer: int, offset: int = 0) -> None:
    """symm_mem.get with a handle of the cpu device."""
    if dst.device.type != "cpu":
        raise ValueError("get: dst must be on the same device as hdl")
    if not dst.is_contiguous():
        raise ValueError("get: dst must be backed by contiguous memory")
    if offset < 0:
        raise ValueError("get: offset must be non-negative")
    if not 0 <= peer < hdl.world_size:
        raise ValueError("get: invalid peer")
    size = dst.element_size()
    if hdl.offset % size:
        raise RuntimeError("get: handle offset is not element-aligned")
    first = hdl.offset // size + offset
    if (first + dst.numel()) * size > hdl.buffer_size:
        raise ValueError("get: requested range exceeds symmetric allocation")
    dst.copy_(hdl.get_buffer(peer, dst.shape, dst.dtype, first))
