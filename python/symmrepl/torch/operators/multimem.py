"""The operators that use NVLink multicast on GPUs. The cpu device reads and writes the copies of all ranks, as in cells."""

from __future__ import annotations

from typing import List, Optional

import torch

from ...emulator.device import Device
from ..groups import device
from .call import Call, brief, row

_TYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}


def _aligned(c: Call, name: str, tensor: torch.Tensor) -> None:
    if tensor.data_ptr() % 4 or tensor.nbytes % 4:
        raise c.refuse(f"{name} is {brief(tensor)}: it must begin and end at a multiple of 4 bytes")


def _multicast(d: Device, copies: List[int]) -> bytes:
    return d.pack("Multicast", copies=copies)


def _reduce(c: Call, input: torch.Tensor, reduce_op: str, out: Optional[torch.Tensor], root: Optional[int] = None) -> None:
    """Reduces input into out, or without it into the inputs of all ranks."""
    c.reduction(reduce_op, ("sum", "avg"))
    place = c.symmetric("input", input)
    if input.dtype not in _TYPES:
        raise c.refuse(f"input is {brief(input)}: multicast adds float32, float16 and bfloat16")
    _aligned(c, "input", input)
    if root is not None:
        c.member("root", root)
        c.words["root"] = str(root)
    if out is not None and root in (None, c.group.rank):
        c.like("out", out, input.shape, input.dtype)
        _aligned(c, "out", out)
        c.apart("out", out, "input", input)
    c.agree("multimem_reduce")
    at, end = c.addresses(input, place), input.nbytes
    if not end:
        return
    part, first = end, 0
    if out is None:
        part = -(-end // c.group.size) + 15 & ~15
        first = min(c.group.rank * part, end)
        end = min(first + part, end)
    elif root not in (None, c.group.rank):
        end = 0
    c.launch(
        "MultimemArgs", part, tensor=_multicast(device(), at), out=0 if out is None else out.data_ptr(), offset=first, n=end - first,
        type=_TYPES[input.dtype], average=int(reduce_op == "avg"),
    )  # fmt: skip


@row("multimem_reduce")
def multimem_all_reduce_(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    _reduce(Call("multimem_all_reduce_", group_name), input, reduce_op, None)
    return input


@row("multimem_reduce")
def multimem_one_shot_all_reduce(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    out = torch.empty_like(input)
    _reduce(Call("multimem_one_shot_all_reduce", group_name), input, reduce_op, out)
    return out


@row("multimem_reduce")
def multimem_one_shot_all_reduce_out(input: torch.Tensor, reduce_op: str, group_name: str, out: torch.Tensor) -> torch.Tensor:
    _reduce(Call("multimem_one_shot_all_reduce_out", group_name), input, reduce_op, out)
    return out


@row("multimem_reduce")
def multimem_one_shot_reduce_out(input: torch.Tensor, reduce_op: str, root: int, group_name: str, out: torch.Tensor) -> torch.Tensor:
    _reduce(Call("multimem_one_shot_reduce_out", group_name), input, reduce_op, out, root)
    return out


@row("multimem_all_gather")
def multimem_all_gather_out(input: torch.Tensor, group_name: str, out: torch.Tensor) -> torch.Tensor:
    c = Call("multimem_all_gather_out", group_name)
    c.contiguous("input", input)
    if not input.dim():
        raise c.refuse("input has no dimension to gather")
    c.like("out", out, (input.shape[0] * c.group.size, *input.shape[1:]), input.dtype)
    place = c.symmetric("out", out)
    _aligned(c, "input", input)
    _aligned(c, "out", out)
    c.apart("out", out, "input", input)
    c.agree("multimem_all_gather")
    at = c.addresses(out, place)
    if input.nbytes:
        c.launch(
            "MultimemGatherArgs", input.nbytes, **{"in": input.data_ptr()}, out=_multicast(device(), at),
            offset=c.group.rank * input.nbytes, n=input.nbytes,
        )  # fmt: skip
    return out


@row("copy_rows")
def memcpy_to_multicast_(symm_mem_out: torch.Tensor, src: torch.Tensor, byte_offset: int, group_name: str) -> torch.Tensor:
    """Copies src to a place in the tensors of all ranks. No rank waits: the program signals."""
    c = Call("memcpy_to_multicast_", group_name)
    at = c.known("symm_mem_out", symm_mem_out)
    c.contiguous("symm_mem_out", symm_mem_out)
    c.contiguous("src", src)
    if byte_offset < 0 or byte_offset + src.nbytes > symm_mem_out.nbytes:
        raise c.refuse(f"{src.nbytes} bytes from byte {byte_offset} on do not fit into symm_mem_out, which has {symm_mem_out.nbytes}")
    for p in c.around():
        c.copy(at[p] + byte_offset, src.data_ptr(), src.nbytes)
    return symm_mem_out
