"""Words of 32 bits, and the memory of other ranks: operators in which no rank waits."""

from __future__ import annotations

import struct
from typing import List

import torch

from ...emulator import watch
from .. import memory, signals
from ..errors import Misuse
from ..groups import device
from ..handle import rendezvous
from .call import Call, brief, row


@row("none")
def get_remote_tensors(x: torch.Tensor, group_name: str) -> List[torch.Tensor]:
    c = Call("get_remote_tensors", group_name)
    if memory.find(x) is None:
        raise c.refuse("x is not symmetric: allocate it by symm_mem.empty")
    h = rendezvous(x, lambda: c.group)
    return [h.get_remote_tensor(p, x.shape, x.dtype) for p in range(h.world_size)]


def _words(op: str, input: torch.Tensor, offset: int, val: int, count: int) -> None:
    if input.dim() != 1 or not input.is_contiguous() or input.dtype != torch.uint32:
        raise Misuse(None, op, f"input must be a flat, contiguous uint32 tensor, and is {brief(input)}")
    if offset < 0:
        raise Misuse(None, op, f"offset must be greater than or equal to 0, and is {offset}")
    if count <= 0:
        raise Misuse(None, op, f"count must be a positive integer, and is {count}")
    if not 0 <= val < 1 << 32:
        raise Misuse(None, op, f"val must be in the range of [0, 4294967295] (uint32_t), and is {val}")
    if offset + count > input.numel():
        raise Misuse(None, op, f"offset + count, {offset} + {count}, exceeded the numel of the input, {input.numel()}")


@row("none: one store")
def stream_write_value32_(input: torch.Tensor, offset: int, val: int) -> torch.Tensor:
    """Writes a word, which may be a signal: who sees it sees what this rank has written before."""
    _words("stream_write_value32_", input, offset, val, 1)
    arguments = struct.pack("<QQ", input.data_ptr() + 4 * offset, val)
    device().launch(signals.kernel("write"), (1, 1, 1), (1, 1, 1), arguments, call=watch.Call("stream_write_value32_"))
    return input


@row("none: ATen fills")
def memset32_(input: torch.Tensor, offset: int, val: int, count: int) -> torch.Tensor:
    _words("memset32_", input, offset, val, count)
    input[offset : offset + count] = val
    return input
