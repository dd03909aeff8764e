"""Rows that go to the ranks named by splits in memory: all_to_all_vdev, its dispatch and its combine."""

from __future__ import annotations

from typing import Optional

import torch

from ...emulator.errors import Refused
from .. import block
from ..groups import device
from .call import Call, brief, row

_SPLITS = 512  # at most, one for each thread
_BLOCKS = 8
_BLOCK_BYTES = 8 << 10  # of the memory of out are worth a block

_DISPATCH, _COMBINE = 0, 1  # symm::RowsLayout


def _move(c: Call, layout: int, input: torch.Tensor, out: torch.Tensor, splits: torch.Tensor, out_splits: torch.Tensor, align: int) -> None:
    world = c.group.size
    name = "in_splits" if layout == _DISPATCH else "in_splits_offsets"
    tensors = {"input": input, "out": out, name: splits, "out_splits_offsets": out_splits}
    places = {what: c.symmetric(what, t) for what, t in tensors.items()}
    if not input.dim() or not out.dim() or input.dtype != out.dtype or input.shape[1:] != out.shape[1:]:
        raise c.refuse(f"input is {brief(input)} and out is {brief(out)}: the type and all dimensions but the first must be the same")
    n = splits.shape[-1] if splits.dim() else 0
    shape = [n] if layout == _DISPATCH else [2, n]
    if splits.dtype != torch.int64 or list(splits.shape) != shape or n == 0 or n % world or n > _SPLITS:
        want = "int64[n]" if layout == _DISPATCH else "int64[2, n]"
        raise c.refuse(f"{name} is {brief(splits)}: it must be {want}, n a multiple of the {world} ranks, at most {_SPLITS}")
    c.like("out_splits_offsets", out_splits, (2, n), torch.int64)
    named = list(tensors.items())
    for i, (later, t) in enumerate(named):
        for earlier, u in named[:i]:
            if (later, earlier) != (name, "input"):
                c.apart(later, t, earlier, u)
    c.words["input"] = f"rows of {input.dtype}{list(input.shape[1:])}"  # ranks may have different numbers of them
    c.words["major_align"] = str(align)
    c.agree("all_to_all_vdev")
    h = c.handle(out, places["out"])
    blocks = max(1, min(_BLOCKS, h.buffer_size // _BLOCK_BYTES))
    epochs, inbox = block.of(c.group).inbox(_BLOCKS)
    d = device()
    rows = d.pack(
        "RowsArgs", **{"in": input.data_ptr()}, n=n, layout=layout, splits=splits.data_ptr(),
        offsets=splits.data_ptr() + 8 * n if layout == _COMBINE else 0, out_splits=out_splits.data_ptr(),
        out_offsets=out_splits.data_ptr() + 8 * n, in_rows=input.shape[0], out_rows=out.shape[0],
        row=input.shape[1:].numel() * input.element_size(), align=align,
        out=[b + places["out"].offset for b in h.buffer_ptrs],
    )  # fmt: skip
    head = d.pack("PacketArgs", context=c.group.context(channels=block.CHANNELS), n=n, epochs=epochs, inbox=inbox)
    try:
        c.launch("AllToAllVdevArgs", 0, blocks, max(256, -(-n // 32) * 32), head=head, rows=rows)
    except Refused as e:
        raise c.refuse(_reason(e)) from None


def _reason(e: Refused) -> str:
    """Explains a value that the kernel refused. All ranks get the same one, and nothing was moved."""
    if e.what == 16:
        return f"split {e.index} of rank {e.rank} is {_signed(e.value)}: it must be in [0, {e.limit}], the rows of its input"
    if e.what == 17:
        return f"the splits of rank {e.rank} add up to {e.value} rows, its input has {e.limit}"
    if e.what == 18:
        where = f"begin at row {_signed(e.value)} and are not all among the {e.limit} of its input"
        return f"the rows of split {e.index} of rank {e.rank} {where}"
    return f"rank {e.rank} would receive {e.value} rows, its out has {e.limit}: allocate a longer out"


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


@row("all_to_all_vdev")
def all_to_all_vdev(
    input: torch.Tensor, out: torch.Tensor, in_splits: torch.Tensor, out_splits_offsets: torch.Tensor, group_name: str
) -> None:
    c = Call("all_to_all_vdev", group_name)
    if in_splits.numel() != c.group.size:
        raise c.refuse(f"in_splits is {brief(in_splits)}: it must be int64[{c.group.size}]")
    _move(c, _DISPATCH, input, out, in_splits, out_splits_offsets, 0)


@row("all_to_all_vdev")
def all_to_all_vdev_2d(
    input: torch.Tensor,
    out: torch.Tensor,
    in_splits: torch.Tensor,
    out_splits_offsets: torch.Tensor,
    group_name: str,
    major_align: Optional[int] = None,
) -> None:
    c = Call("all_to_all_vdev_2d", group_name)
    align = 1 if major_align is None else major_align
    if align < 1:
        raise c.refuse(f"major_align is {align}: it must be positive")
    _move(c, _DISPATCH, input, out, in_splits, out_splits_offsets, align)


@row("all_to_all_vdev")
def all_to_all_vdev_2d_offset(
    input: torch.Tensor, out: torch.Tensor, in_splits_offsets: torch.Tensor, out_splits_offsets: torch.Tensor, group_name: str
) -> None:
    c = Call("all_to_all_vdev_2d_offset", group_name)
    _move(c, _COMBINE, input, out, in_splits_offsets, out_splits_offsets, 0)
