"""Tensors of this process for sessions that attach to the program: where they lie, and how they are listed."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

import torch

from ..emulator import attach
from ..emulator.errors import Unavailable
from ..emulator.memory import within
from . import memory

_SHOWN = 8
"""The elements of a tensor that a list shows."""


def install() -> None:
    attach.lend, attach.describe = _lend, _describe


def _lend(value: Any) -> Dict[str, Any]:
    if not isinstance(value, torch.Tensor):
        raise Unavailable(f"is a {type(value).__name__}, and no tensor")
    if value.device.type != "cpu":
        raise Unavailable(f"is on {value.device}: only tensors of the CPU can be mapped")
    a = memory.find(value)
    if a is None and within(value.data_ptr()):
        raise Unavailable("is memory of another rank or a signal pad: take the tensor on its own rank, and symm.Rendezvous")
    if a is None:
        raise Unavailable("is not in symmetric memory of its rank, and other processes cannot map it: allocate it by symm_mem.empty")
    if not value.is_contiguous() or value.is_conj() or value.is_neg():
        raise Unavailable("is a view that is not contiguous: take the tensor that it is a view of")
    words = {"fd": a.segment.descriptor, "inode": os.fstat(a.segment.descriptor).st_ino, "size": a.segment.size, "pad": a.pad_size}
    dtype = str(value.dtype).rpartition(".")[2]
    return {**words, "data": a.at, "bytes": a.size, "offset": memory.offset_in(value, a), "dtype": dtype, "shape": list(value.shape)}


def _describe(value: Any) -> Optional[Dict[str, Any]]:
    if not isinstance(value, torch.Tensor):
        return None
    kind = memory.described(value.dtype, value.shape) + ("" if value.device.type == "cpu" else f" on {value.device}")
    try:
        _lend(value)
    except Unavailable as e:
        shown = f"{e}".partition(":")[0].partition(", and")[0]
    else:
        first = value.detach().flatten()[:_SHOWN].tolist()
        shown = "[" + " ".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in first) + (" …]" if value.numel() > _SHOWN else "]")
    return {"type": kind, "bytes": value.nbytes, "value": shown}
