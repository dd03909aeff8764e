"""One-sided operators: they reach the memory of one other rank, which does not take part."""

from __future__ import annotations

import torch

from ..handle import Handle


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
