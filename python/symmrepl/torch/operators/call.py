"""Calls of operators: the checks, the comparison among the ranks, and the launch of a kernel."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

import torch

from ...emulator.device import Kernel
from ...emulator.errors import Refused
from .. import block, memory
from ..errors import Misuse
from ..groups import Group, device, resolve
from ..handle import Handle, rendezvous

SUFFIXES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.int8: "i8", torch.uint8: "u8",
    torch.int32: "i32", torch.uint32: "u32", torch.int64: "i64", torch.uint64: "u64",
    torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2",
}  # fmt: skip
"""The kernels' names of the types of elements."""

REDUCTIONS = {"sum": 0, "avg": 1, "max": 2, "min": 3}
_THREADS = 256
_BYTES = 16384  # of a block, at least


class Row(NamedTuple):
    """An operator on the CPU. kernels names the files of kernels/ that it runs, for the table."""

    function: Callable[..., Any]
    kernels: str


ROWS: Dict[str, Row] = {}
"""The operators by name."""

F = TypeVar("F", bound=Callable[..., Any])


def row(kernels: str) -> Callable[[F], F]:
    """Makes a function the operator of its name."""

    def add(function: F) -> F:
        ROWS[function.__name__] = Row(function, kernels)
        return function

    return add


def brief(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype}{list(tensor.shape)}"


class Place(NamedTuple):
    """Where a tensor lies in symmetric memory: its allocation, and its offset in it in bytes."""

    allocation: memory.Allocation
    offset: int


class Call:
    """A call of an operator by one rank of a group.

    It checks the arguments, then compares with the other ranks by `agree`, and then runs a kernel. What must be the
    same on all ranks is in words, each with the name of the argument.
    """

    def __init__(self, op: str, group_name: str) -> None:
        self.op = op
        self.group: Group = resolve(group_name, op)
        self.words: Dict[str, str] = {}
        self._kernel: Optional[Kernel] = None

    def refuse(self, text: str) -> Misuse:
        return Misuse(self.group.rank, self.op, text)

    def place(self, name: str, tensor: torch.Tensor) -> Place:
        """Returns where a tensor lies, which must be symmetric. The ranks compare the place, the type and the shape."""
        a = memory.find(tensor)
        if a is None:
            raise self.refuse(f"{name} {memory.unsuited(tensor)}")
        offset = memory.offset_in(tensor, a)
        known = a.handles.get(self.group.name)
        number = "new" if known is None or known._group is not self.group else f"number {known.id}"
        self.words[name] = brief(tensor)
        self.words[f"the memory of {name}"] = f"allocation {number} from byte {offset} on"
        return Place(a, offset)

    def symmetric(self, name: str, tensor: torch.Tensor) -> Place:
        """Returns where a tensor lies, which must be contiguous, too."""
        found = self.place(name, tensor)
        self.contiguous(name, tensor)
        return found

    def contiguous(self, name: str, tensor: torch.Tensor) -> None:
        if not tensor.is_contiguous():
            raise self.refuse(f"{name} is not contiguous: pass {name}.contiguous()")

    def like(self, name: str, tensor: torch.Tensor, shape: Sequence[int], dtype: torch.dtype) -> None:
        self.contiguous(name, tensor)
        if tuple(tensor.shape) != tuple(shape) or tensor.dtype != dtype:
            raise self.refuse(f"{name} is {brief(tensor)}: it must be {dtype}{list(shape)}")

    def member(self, name: str, rank: int) -> None:
        if not 0 <= rank < self.group.size:
            raise self.refuse(f"{name} is {rank}: a rank of this group must be in [0, {self.group.size})")

    def apart(self, name: str, tensor: torch.Tensor, other: str, second: torch.Tensor) -> None:
        """Refuses tensors that overlap, or whose rows lie between each other's."""
        (a, b), (c, d) = _span(tensor), _span(second)
        if a < d and c < b:
            raise self.refuse(f"{name} overlaps {other}")

    def reduction(self, name: str, among: Sequence[str] = tuple(REDUCTIONS)) -> int:
        if name not in among:
            raise self.refuse(f"there is no reduction {name!r}; there are {', '.join(among)}")
        self.words["reduce_op"] = name
        return REDUCTIONS[name]

    def suffix(self, dtype: torch.dtype) -> str:
        if dtype not in SUFFIXES:
            raise self.refuse(f"elements of {dtype} cannot be reduced")
        return SUFFIXES[dtype]

    def agree(self, kernel: str) -> None:
        """Returns when all ranks have made this call with the same words. kernel is the one that `launch` runs. Errors: Mismatch."""
        self._kernel = device().operation(kernel)
        block.of(self.group).compare(self.op, self.words)

    def addresses(self, tensor: torch.Tensor, place: Place) -> List[int]:
        """Returns the addresses of all ranks' copies of a symmetric tensor, by rank. The ranks have agreed."""
        h = self.handle(tensor, place)
        return [b + place.offset for b in h._buffers]

    def handle(self, tensor: torch.Tensor, place: Place) -> Handle:
        known: Optional[Handle] = place.allocation.handles.get(self.group.name)
        return known if known is not None and known._group is self.group else rendezvous(tensor, lambda: self.group)

    def launch(self, struct: str, nbytes: int, blocks: int = 0, threads: int = _THREADS, **fields: Any) -> None:
        """Runs the kernel in which the ranks meet. nbytes is the work of a rank, the same on all; it gives the number of blocks.

        After a launch that has not ended, the group has no other.
        """
        assert self._kernel is not None
        blocks = blocks or max(1, min(block.CHANNELS, -(-nbytes // _BYTES)))
        if "head" not in fields:
            fields["context"] = self.group.context(channels=block.CHANNELS)
        arguments = device().pack(struct, signals=block.of(self.group).signals, **fields)
        try:
            open_call = block.of(self.group).call(self.op)
            device().launch(self._kernel, (blocks, 1, 1), (threads, 1, 1), arguments, call=open_call)
        except Refused:
            raise  # by all ranks, which are in step
        except BaseException:
            self.group.broken = self.op
            raise

    def pull(
        self, op: int, inputs: List[int], outs: List[int], n: int, dtype: torch.dtype, width: int = 0, stride: int = 0, most: int = 0
    ) -> None:
        """Reduces n elements of all ranks' inputs into outs, between two barriers, by pull_reduce.

        n is the same on all ranks, or most is.
        """
        fields: Dict[str, Any] = {"in": inputs, "out": outs, "outs": len(outs), "n": n, "width": width, "stride": stride, "op": op}
        self.launch("PullArgs", (most or n) * dtype.itemsize, **fields)

    def meet(self) -> None:
        """Returns when all ranks have called it."""
        self._kernel = device().operation("barrier")
        self.launch("BarrierArgs", 0, threads=32)

    def exchange(self, pieces: Sequence[Tuple[int, int]], nbytes: int, same: bool = False) -> None:
        """Copies pieces of so many bytes, from an address to another one, between two barriers, by exchange.

        same says that all come from one address.
        """
        fields: Dict[str, Any] = {
            "src": [a for a, _ in pieces],
            "dst": [b for _, b in pieces],
            "pieces": len(pieces),
            "n": nbytes,
            "same": int(same),
        }
        self.launch("ExchangeArgs", nbytes * self.group.size, **fields)

    def known(self, name: str, tensor: torch.Tensor) -> List[int]:
        """Returns the addresses of all ranks' copies of a symmetric tensor, by rank, without waiting for them."""
        a = memory.find(tensor)
        if a is None:
            raise self.refuse(f"{name} {memory.unsuited(tensor)}")
        h: Optional[Handle] = a.handles.get(self.group.name)
        if h is None or h._group is not self.group:
            raise self.refuse(f"{name} has no rendezvous in group {self.group.name}: let all its ranks pass it to symm_mem.rendezvous")
        offset = memory.offset_in(tensor, a)
        return [b + offset for b in h._buffers]

    def copy(self, to: int, source: int, nbytes: int) -> None:
        """Copies bytes from one address to another one, by copy_rows. No rank waits."""
        if nbytes:
            d, blocks = device(), max(1, min(block.CHANNELS, -(-nbytes // _BYTES)))
            width = next(w for w in (4096, 256, 16, 1) if nbytes % w == 0)  # threads share words of rows
            arguments = d.pack("CopyRowsArgs", dst=to, src=source, rows=nbytes // width, width=width, dst_pitch=width, src_pitch=width)
            d.launch(d.operation("copy_rows"), (blocks, 1, 1), (_THREADS, 1, 1), arguments, call=self.group.call(self.op))

    def around(self) -> List[int]:
        """Returns the ranks, beginning with a neighbour to spread the traffic, and this one last."""
        return [(self.group.rank + 1 + k) % self.group.size for k in range(self.group.size)]


def _span(tensor: torch.Tensor) -> Tuple[int, int]:
    """Returns the first address of a tensor and the end of its last element; the same one twice if it has no elements."""
    first = tensor.data_ptr()
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return first, first + (last + 1) * tensor.element_size() if tensor.numel() else first
