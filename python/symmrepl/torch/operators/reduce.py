"""Reductions: all-reduce in one shot and two, and reduce-scatter."""

from __future__ import annotations

from typing import Optional

import torch

from .call import Call, brief, row


def _one_shot(
    op: str, group: str, symmetric: torch.Tensor, reduce_op: str, out: torch.Tensor, local: Optional[torch.Tensor] = None
) -> torch.Tensor:
    c = Call(op, group)
    code = c.reduction(reduce_op)
    place = c.symmetric("input" if local is None else "symm_buffer", symmetric)
    shape, dtype = (symmetric.shape, symmetric.dtype) if local is None else (local.shape, local.dtype)
    c.like("out", out, shape, dtype)
    if local is not None:
        c.contiguous("local_input", local)
        if local.dtype != symmetric.dtype or local.numel() > symmetric.numel():
            raise c.refuse(f"local_input is {brief(local)}: it does not fit into symm_buffer, {brief(symmetric)}")
        c.words["local_input"] = brief(local)
    c.agree(f"pull_reduce_{c.suffix(dtype)}")
    at = c.addresses(symmetric, place)
    if local is not None and local.numel():
        symmetric.view(-1)[: local.numel()].copy_(local.reshape(-1))
    if out.numel():
        c.pull(code, at, [out.data_ptr()], out.numel(), dtype)
    return out


@row("pull_reduce")
def one_shot_all_reduce(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce", group_name, input, reduce_op, torch.empty_like(input))


@row("pull_reduce")
def one_shot_all_reduce_out(input: torch.Tensor, reduce_op: str, group_name: str, out: torch.Tensor) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_out", group_name, input, reduce_op, out)


@row("pull_reduce")
def one_shot_all_reduce_copy(symm_buffer: torch.Tensor, local_input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_copy", group_name, symm_buffer, reduce_op, torch.empty_like(local_input), local_input)


@row("pull_reduce")
def one_shot_all_reduce_copy_out(
    symm_buffer: torch.Tensor, local_input: torch.Tensor, reduce_op: str, group_name: str, out: torch.Tensor
) -> torch.Tensor:
    return _one_shot("one_shot_all_reduce_copy_out", group_name, symm_buffer, reduce_op, out, local_input)


def _two_shot(c: Call, input: torch.Tensor, reduce_op: str) -> None:
    """Reduces this rank's slice into the inputs of all ranks."""
    code = c.reduction(reduce_op)
    place = c.symmetric("input", input)
    c.agree(f"pull_reduce_{c.suffix(input.dtype)}")
    n, size = input.numel(), input.element_size()
    first, end = (n * r // c.group.size for r in (c.group.rank, c.group.rank + 1))
    if n:
        at = [a + first * size for a in c.addresses(input, place)]
        c.pull(code, at, at, end - first, input.dtype, most=n)


@row("pull_reduce")
def two_shot_all_reduce_(input: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    _two_shot(Call("two_shot_all_reduce_", group_name), input, reduce_op)
    return input


@row("pull_reduce, barrier")
def two_shot_all_reduce_out(input: torch.Tensor, reduce_op: str, group_name: str, output: torch.Tensor) -> torch.Tensor:
    c = Call("two_shot_all_reduce_out", group_name)
    c.like("output", output, input.shape, input.dtype)
    _two_shot(c, input, reduce_op)
    output.copy_(input)
    c.meet()  # the input may be written again
    return output


def _unit(input: torch.Tensor, offset: int) -> int:
    """Returns the number of elements of an access on GPUs: as many of its 16 bytes as the tensor's place and size are multiples of."""
    nbytes = next(k for k in (16, 8, 4, 2, 1) if (offset | input.nbytes) % k == 0)
    return max(1, nbytes // input.element_size())


def _why(unit: int, world: int) -> str:
    times = f" times the {unit // world} elements that a thread of a GPU reads at once"
    return f"the {world} ranks{times if unit != world else ''}"


@row("pull_reduce")
def reduce_scatter_out(input: torch.Tensor, group_name: str, split_last_dim: bool, output: torch.Tensor) -> torch.Tensor:
    c = Call("reduce_scatter_out", group_name)
    place = c.symmetric("input", input)
    c.words["split_last_dim"] = str(split_last_dim)
    world, rank, size = c.group.size, c.group.rank, input.element_size()
    n, columns = input.numel() // world, 0
    unit = world * _unit(input, place.offset)
    if split_last_dim:
        if not input.dim() or input.shape[-1] % unit:
            raise c.refuse(f"the last dimension of input, {list(input.shape)}, is not divisible by {unit}, {_why(unit, world)}")
        columns = input.shape[-1]
        c.like("output", output, (*input.shape[:-1], columns // world), input.dtype)
    else:
        if input.numel() % unit:
            raise c.refuse(f"the {input.numel()} elements of input are not divisible by {unit}, {_why(unit, world)}")
        c.contiguous("output", output)
        if output.numel() != n or output.dtype != input.dtype:
            raise c.refuse(f"output is {brief(output)}: it must have {n} elements of {input.dtype}")
    c.agree(f"pull_reduce_{c.suffix(input.dtype)}")
    if n:
        first = rank * (columns // world if split_last_dim else n) * size
        at = [a + first for a in c.addresses(input, place)]
        c.pull(0, at, [output.data_ptr()], n, input.dtype, columns // world, columns)
    return output
