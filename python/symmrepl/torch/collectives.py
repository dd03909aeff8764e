"""Calls of PyTorch's process groups, such as those of gloo, in which a thread stands: by its frames."""

from __future__ import annotations

import os
from types import FrameType
from typing import Any, List, Mapping, Optional, Tuple

import torch.distributed as dist

from ..emulator.watch import Call

_FROM_ONE = {"broadcast", "scatter", "broadcast_object_list", "scatter_object_list"}
"""Functions by which the ranks wait for one of them, src."""

_TO_ONE = {"reduce", "gather", "gather_object"}
"""Functions by which one rank, dst, waits for the others."""

_MEETINGS = {
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_gather_coalesced", "all_reduce_coalesced",
    "all_to_all", "all_to_all_single", "barrier", "monitored_barrier", "reduce_scatter", "reduce_scatter_tensor",
    "init_process_group", "new_group",
}  # fmt: skip
"""Functions by which all ranks wait for all."""

_PAIRS = {"send", "recv"}
"""Functions by which one rank waits for another."""

_KNOWN = _FROM_ONE | _TO_ONE | _MEETINGS | _PAIRS


def explain(frame: FrameType) -> Optional[Call]:
    """Returns the call of a process group in which the frame stands, or None."""
    inside: Optional[FrameType] = frame
    found: Optional[FrameType] = None
    while inside is not None and str(inside.f_globals.get("__name__")).startswith("torch."):
        if inside.f_code.co_name in _KNOWN:
            found = inside
        inside = inside.f_back
    return None if found is None else _call(found.f_code.co_name, found.f_locals)


def _call(op: str, given: Mapping[str, Any]) -> Call:
    me, world = _place()
    members = _members(given.get("group"), world)
    others = [r for r in members if r != me]
    group = "world" if len(members) == world else "group " + ",".join(map(str, members))
    one = given.get("src" if op in _FROM_ONE or op == "recv" else "dst")
    if op in _FROM_ONE | _TO_ONE:
        awaited = others if one == me or not isinstance(one, int) else [one]
    elif op in _PAIRS:
        awaited = [one] if isinstance(one, int) else []
    else:
        awaited = others
    if op in _PAIRS:
        return Call(op, group=group, members=members, awaited=awaited, what="its other side")
    number = _number(given.get("group"))
    return Call(op, group=group, members=members, ordinal=number, name=f"{group}/{op} {number}", awaited=awaited, what="the same call")


def _place() -> Tuple[int, int]:
    """Returns this process's rank and the size of the world, which torchrun sets before PyTorch knows them."""
    if dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return tuple(int(word) if word.isdecimal() else 0 for word in (os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")))


def _number(group: Any) -> int:
    """Returns the number of the collective call that a group has begun last, 0 if it is not known."""
    try:
        return int((group or dist.group.WORLD)._get_sequence_number_for_group())
    except (RuntimeError, AttributeError, TypeError):
        return 0


def _members(group: Any, world: int) -> List[int]:
    if group is not None and dist.is_initialized():
        try:
            return list(dist.get_process_group_ranks(group))
        except (RuntimeError, ValueError, KeyError, TypeError):
            pass  # no group of this process
    return list(range(world))
