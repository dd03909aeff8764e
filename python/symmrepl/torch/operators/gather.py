"""Operators that copy between ranks: all-gather, all-to-all and broadcast."""

from __future__ import annotations

import math
from typing import List, Optional, Tuple

import torch
import torch.distributed._symmetric_memory as symm_mem

from .. import memory
from .call import Call, Place, brief, row


def _gathered(c: Call, tensor: torch.Tensor) -> Tuple[int, ...]:
    """Returns the shape of the tensors of all ranks one after the other."""
    return (c.group.size * (tensor.shape[0] if tensor.dim() else 1), *tensor.shape[1:])


def from_all(c: Call, tensor: torch.Tensor, place: Optional[Place]) -> List[int]:
    """Returns where each rank's tensor can be read. One that is not symmetric is copied to the group's workspace. The ranks have agreed."""
    if place is not None:
        return c.addresses(tensor, place)
    h = symm_mem.get_symm_mem_workspace(c.group.name, max(tensor.nbytes, 1))
    h.get_buffer(c.group.rank, tensor.shape, tensor.dtype).copy_(tensor)
    return list(h.buffer_ptrs)


def source(c: Call, name: str, tensor: torch.Tensor) -> Optional[Place]:
    """Returns where a tensor lies, or None if it is to go through the workspace."""
    if memory.find(tensor) is not None and tensor.is_contiguous():
        return c.symmetric(name, tensor)
    c.words[name] = f"{brief(tensor)}, copied to the workspace"
    return None


def gather(c: Call, tensor: torch.Tensor, place: Optional[Place], out: torch.Tensor) -> None:
    """Fills a contiguous out with the tensors of all ranks."""
    at, n = from_all(c, tensor, place), tensor.nbytes
    if n:
        c.exchange([(at[p], out.data_ptr() + p * n) for p in c.around()], n)


@row("exchange")
def _low_contention_all_gather(tensor: torch.Tensor, group_name: str) -> torch.Tensor:
    c = Call("_low_contention_all_gather", group_name)
    place = source(c, "tensor", tensor)
    c.agree("exchange")
    out = torch.empty(_gathered(c, tensor), dtype=tensor.dtype)
    gather(c, tensor, place, out)
    return out


def _multicast(c: Call, tensor: torch.Tensor, out: torch.Tensor, place: Place) -> torch.Tensor:
    """Copies a tensor of each rank to its place in the outs of all."""
    c.agree("exchange")
    tensor, n = tensor.contiguous(), tensor.nbytes
    at = c.addresses(out, place)
    if n:
        c.exchange([(tensor.data_ptr(), at[p] + c.group.rank * n) for p in c.around()], n, same=True)
    return out


@row("exchange")
def _low_contention_all_gather_ce_multicast(tensor: torch.Tensor, group_name: str) -> torch.Tensor:
    c = Call("_low_contention_all_gather_ce_multicast", group_name)
    shape = _gathered(c, tensor)
    out = memory.empty_strided(shape, [math.prod(shape[i + 1 :]) for i in range(len(shape))], tensor.dtype)
    return _multicast(c, tensor, out, c.symmetric("out", out))


@row("exchange")
def _low_contention_all_gather_ce_multicast_out(tensor: torch.Tensor, group_name: str, out: torch.Tensor) -> torch.Tensor:
    c = Call("_low_contention_all_gather_ce_multicast_out", group_name)
    c.like("out", out, _gathered(c, tensor), tensor.dtype)
    return _multicast(c, tensor, out, c.symmetric("out", out))


@row("exchange")
def nvshmem_broadcast(input: torch.Tensor, root: int, group_name: str) -> torch.Tensor:
    c = Call("nvshmem_broadcast", group_name)
    place = c.symmetric("input", input)
    c.member("root", root)
    c.words["root"] = str(root)
    c.agree("exchange")
    at = c.addresses(input, place)
    others = [(at[root], at[p]) for p in c.around() if p != root] if c.group.rank == root else []
    if input.nbytes:
        c.exchange(others, input.nbytes, same=True)
    return input


@row("exchange")
def nvshmem_all_to_all(input: torch.Tensor, out: torch.Tensor, group_name: str) -> torch.Tensor:
    c = Call("nvshmem_all_to_all", group_name)
    place = c.symmetric("input", input)
    c.symmetric("out", out)
    if input.numel() != out.numel() or input.dtype != out.dtype:
        raise c.refuse(f"out is {brief(out)}: it must have {input.numel()} elements of {input.dtype}")
    if input.numel() % c.group.size:
        raise c.refuse(f"the {input.numel()} elements of input are not divisible by the {c.group.size} ranks")
    c.apart("out", out, "input", input)
    c.agree("exchange")
    at, n = c.addresses(input, place), input.nbytes // c.group.size
    if n:
        c.exchange([(at[p] + c.group.rank * n, out.data_ptr() + p * n) for p in c.around()], n)
    return out


@row("permute")
def nccl_all_to_all_nd(input: torch.Tensor, out: torch.Tensor, scatter_dim: int, gather_dim: int, group_name: str) -> None:
    c = Call("nccl_all_to_all_nd", group_name)
    place = c.symmetric("input", input)
    world, rank = c.group.size, c.group.rank
    if (scatter_dim, gather_dim) not in ((1, 0), (0, 1)):
        raise c.refuse(f"scatter_dim {scatter_dim} with gather_dim {gather_dim}: they must be 1 and 0, or 0 and 1")
    if input.dim() == 3 and input.shape[scatter_dim] == world:
        shape = [input.shape[0], world * input.shape[2]] if scatter_dim else [world * input.shape[1], input.shape[2]]
    elif input.dim() == 2 and input.shape[scatter_dim] % world == 0:
        shape = list(input.shape)
    else:
        want = f"of two dimensions number {scatter_dim} must be divisible by the {world} ranks, of three it must be {world}"
        raise c.refuse(f"input is {brief(input)}: {want}")
    shape[scatter_dim] //= world
    rows, columns = shape
    joined = [world * rows, columns] if gather_dim == 0 else [rows, world * columns]
    parted = [world, rows, columns] if gather_dim == 0 else [rows, world, columns]
    c.contiguous("out", out)
    if list(out.shape) not in (joined, parted) or out.dtype != input.dtype:
        raise c.refuse(f"out is {brief(out)}: it must be {input.dtype}{parted} or {joined}")
    c.apart("out", out, "input", input)
    c.words.update(scatter_dim=str(scatter_dim), gather_dim=str(gather_dim))
    c.agree("permute")
    at, width = c.addresses(input, place), columns * input.element_size()
    if not input.nbytes:
        return
    wide, narrow = (world * width, width) if scatter_dim else (width, world * width)
    mine, theirs = (rank * width, rows * width) if scatter_dim else (rank * rows * width, width)
    c.launch(
        "PermuteArgs", input.nbytes, src=[at[p] + mine for p in c.around()], dst=[out.data_ptr() + p * theirs for p in c.around()],
        batches=1, batch=input.nbytes, rows=rows, width=width, src_pitch=wide, dst_pitch=narrow,
    )  # fmt: skip
