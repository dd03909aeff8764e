"""The operators of torch.ops.symm_mem for tensors of the CPU. They run kernels of this project: see kernels/all_reduce."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from . import memory
from .errors import Misuse
from .groups import CHANNELS, Group, device, resolve
from .handle import Handle, rendezvous

_SUFFIXES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.int8: "i8", torch.uint8: "u8",
    torch.int32: "i32", torch.uint32: "u32", torch.int64: "i64", torch.uint64: "u64",
    torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2",
}  # fmt: skip
"""The kernels' names of the types of elements."""

_REDUCTIONS = {"sum": 0, "avg": 1, "max": 2, "min": 3}
_THREADS = 256
_ELEMENTS = 4096  # of a block, at least

_library: Optional[torch.library.Library] = None


def register() -> None:
    """Registers the operators for the key CPU. Those that have no row here fail by PyTorch's own message."""
    global _library
    _library = torch.library.Library("symm_mem", "IMPL", "CPU")
    for name, function in _ROWS.items():
        if hasattr(torch.ops.symm_mem, name):
            _library.impl(name, function)


class _Call:
    """A call of an operator: its name, its group, and the handles of its symmetric tensors."""

    def __init__(self, op: str, group_name: str) -> None:
        self.op = op
        self.group: Group = resolve(group_name, op)

    def refuse(self, text: str) -> Misuse:
        return Misuse(self.group.rank, self.op, text)

    def symmetric(self, name: str, tensor: torch.Tensor) -> Handle:
        if memory.find(tensor) is None:
            raise self.refuse(f"{name} is not symmetric: allocate it by symm_mem.empty")
        self.contiguous(name, tensor)
        return rendezvous(tensor, lambda: self.group)

    def contiguous(self, name: str, tensor: torch.Tensor) -> None:
        if not tensor.is_contiguous():
            raise self.refuse(f"{name} is not contiguous: pass {name}.contiguous()")

    def like(self, name: str, tensor: torch.Tensor, shape: Sequence[int], dtype: torch.dtype) -> None:
        self.contiguous(name, tensor)
        if tuple(tensor.shape) != tuple(shape) or tensor.dtype != dtype:
            raise self.refuse(f"{name} is {tensor.dtype}{list(tensor.shape)}: it must be {dtype}{list(shape)}")

    def reduction(self, name: str) -> int:
        if name not in _REDUCTIONS:
            raise self.refuse(f"there is no reduction {name!r}; there are {', '.join(_REDUCTIONS)}")
        return _REDUCTIONS[name]

    def pull(
        self, op: str, dtype: torch.dtype, inputs: List[int], outs: List[int], n: int, width: int = 0, stride: int = 0
    ) -> None:
        """Reduces n elements of all ranks' inputs into outs, between two barriers."""
        if dtype not in _SUFFIXES:
            raise self.refuse(f"elements of {dtype} cannot be reduced")
        code = self.reduction(op)
        blocks = max(1, min(CHANNELS, -(-n // _ELEMENTS)))
        d = device()
        arguments = d.pack(
            "PullArgs",
            context=self.group.context(),
            signals=self.group.signals(),
            **{"in": inputs, "out": outs},
            outs=len(outs),
            n=n,
            width=width,
            stride=stride,
            op=code,
        )
        self.launch(f"pull_reduce_{_SUFFIXES[dtype]}", blocks, _THREADS, arguments)

    def meet(self) -> None:
        """Returns when all ranks have called it."""
        d = device()
        self.launch("barrier", 1, 32, d.pack("BarrierArgs", context=self.group.context(), signals=self.group.signals()))

    def launch(self, kernel: str, blocks: int, threads: int, arguments: bytes) -> None:
        """Runs a kernel with which the ranks signal each other by the group's words. After one that has not ended, there is no other."""
        d = device()
        found = d.operation(kernel)
        if self.group.broken is not None:
            raise self.refuse(f"group {self.group.name} is of no use after {self.group.broken} was interrupted: make another group")
        try:
            d.launch(found, (blocks, 1, 1), (threads, 1, 1), arguments)
        except BaseException:
            self.group.broken = self.op
            raise


def _one_shot(
    op: str, group: str, symmetric: torch.Tensor, reduce_op: str, out: torch.Tensor, local: Optional[torch.Tensor] = None
) -> torch.Tensor:
    c = _Call(op, group)
    c.reduction(reduce_op)
    h = c.symmetric("input" if local is None else "symm_buffer", symmetric)
    shape, dtype = (symmetric.shape, symmetric.dtype) if local is None else (local.shape, local.dtype)
    c.like("out", out, shape, dtype)
    if local is not None:
        c.contiguous("local_input", local)
        if local.dtype != symmetric.dtype or local.numel() > symmetric.numel():
            mine, room = (f"{t.dtype}{list(t.shape)}" for t in (local, symmetric))
            raise c.refuse(f"local_input is {mine}: it does not fit into symm_buffer, {room}")
        if local.numel():
            symmetric.view(-1)[: local.numel()].copy_(local.reshape(-1))
    if out.numel():
        c.pull(reduce_op, dtype, [b + h.offset for b in h.buffer_ptrs], [out.data_ptr()], out.numel())
    return out


def one_shot_all_reduce(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce", group_name, input, reduce_op, torch.empty_like(input))


def one_shot_all_reduce_out(input: torch.Tensor, reduce_op: str, group_name: str, out: torch.Tensor) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_out", group_name, input, reduce_op, out)


def one_shot_all_reduce_copy(symm_buffer: torch.Tensor, local_input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_copy", group_name, symm_buffer, reduce_op, torch.empty_like(local_input), local_input)


def one_shot_all_reduce_copy_out(
    symm_buffer: torch.Tensor, local_input: torch.Tensor, reduce_op: str, group_name: str, out: torch.Tensor
) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_copy_out", group_name, symm_buffer, reduce_op, out, local_input)


def _two_shot(c: _Call, input: torch.Tensor, reduce_op: str) -> None:
    """Reduces this rank's slice into the inputs of all ranks."""
    h = c.symmetric("input", input)
    n, size = input.numel(), input.element_size()
    first, end = (n * r // c.group.size for r in (c.group.rank, c.group.rank + 1))
    if n:
        at = [b + h.offset + first * size for b in h.buffer_ptrs]
        c.pull(reduce_op, input.dtype, at, at, end - first)


def two_shot_all_reduce_(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    _two_shot(_Call("two_shot_all_reduce_", group_name), input, reduce_op)
    return input


def two_shot_all_reduce_out(input: torch.Tensor, reduce_op: str, group_name: str, output: torch.Tensor) -> torch.Tensor:
    c = _Call("two_shot_all_reduce_out", group_name)
    c.like("output", output, input.shape, input.dtype)
    _two_shot(c, input, reduce_op)
    output.copy_(input)
    c.meet()  # the input may be written again
    return output


def reduce_scatter_out(input: torch.Tensor, group_name: str, split_last_dim: bool, output: torch.Tensor) -> torch.Tensor:
    c = _Call("reduce_scatter_out", group_name)
    h = c.symmetric("input", input)
    world, rank, size = c.group.size, c.group.rank, input.element_size()
    if split_last_dim:
        if not input.dim() or input.shape[-1] % world:
            raise c.refuse(f"the last dimension of input, {list(input.shape)}, is not divisible by the {world} ranks")
        columns = input.shape[-1]
        c.like("output", output, (*input.shape[:-1], columns // world), input.dtype)
        if output.numel():
            at = [b + h.offset + rank * (columns // world) * size for b in h.buffer_ptrs]
            c.pull("sum", input.dtype, at, [output.data_ptr()], output.numel(), columns // world, columns)
        return output
    n = input.numel()
    if n % world:
        raise c.refuse(f"the {n} elements of input are not divisible by the {world} ranks")
    c.contiguous("output", output)
    if output.numel() != n // world or output.dtype != input.dtype:
        raise c.refuse(f"output is {output.dtype}{list(output.shape)}: it must have {n // world} elements of {input.dtype}")
    if output.numel():
        c.pull("sum", input.dtype, [b + h.offset + rank * (n // world) * size for b in h.buffer_ptrs], [output.data_ptr()], n // world)
    return output


def get_remote_tensors(x: torch.Tensor, group_name: str) -> List[torch.Tensor]:
    c = _Call("get_remote_tensors", group_name)
    if memory.find(x) is None:
        raise c.refuse("x is not symmetric: allocate it by symm_mem.empty")
    h = rendezvous(x, lambda: c.group)
    return [h.get_remote_tensor(p, x.shape, x.dtype) for p in range(h.world_size)]


def _words(op: str, input: torch.Tensor, offset: int, val: int, count: int) -> torch.Tensor:
    if input.dim() != 1 or not input.is_contiguous() or input.dtype != torch.uint32:
        raise Misuse(None, op, f"input is {input.dtype}{list(input.shape)}: it must be a flat, contiguous uint32 tensor")
    if offset < 0 or count <= 0 or offset + count > input.numel():
        raise Misuse(None, op, f"{count} words from {offset} on: the tensor has {input.numel()}")
    if not 0 <= val < 1 << 32:
        raise Misuse(None, op, f"{val} is no value of 32 bits")
    input[offset : offset + count] = val
    return input


def stream_write_value32_(input: torch.Tensor, offset: int, val: int) -> torch.Tensor:
    return _words("stream_write_value32_", input, offset, val, 1)


def memset32_(input: torch.Tensor, offset: int, val: int, count: int) -> torch.Tensor:
    return _words("memset32_", input, offset, val, count)


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


_ROWS: Dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        one_shot_all_reduce, one_shot_all_reduce_out, one_shot_all_reduce_copy, one_shot_all_reduce_copy_out, two_shot_all_reduce_,
        two_shot_all_reduce_out, reduce_scatter_out, get_remote_tensors, stream_write_value32_, memset32_,
    )
}  # fmt: skip
"""The operators by name."""
