"""Groups of ranks, and how they exchange words at a rendezvous."""

from __future__ import annotations

import datetime
import json
from typing import Any, Dict, List, Optional, Tuple

import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from .. import __version__
from ..emulator import watch
from ..emulator.device import Device
from .errors import Mismatch, Misuse

MAX_RANKS = 72

_device: Optional[Device] = None
_groups: Dict[str, Group] = {}
_given: Dict[str, Tuple[int, int, Any]] = {}  # by set_group_info: rank, world size, store


def device() -> Device:
    """Returns the device of this process, which the first call opens."""
    global _device
    if _device is None:
        _device = Device()
    return _device


def set_group_info(name: str, rank: int, world_size: int, store: Any) -> None:
    """Names a group that no process group of PyTorch stands for."""
    _given[name] = (rank, world_size, store)


class Group:
    """A group as one of its ranks sees it. Every method is collective: all ranks make the same calls in the same order."""

    def __init__(self, name: str, rank: int, size: int, store: Any, members: List[int], process_group: Any) -> None:
        if size > MAX_RANKS:
            raise Misuse(rank, "rendezvous", f"the group {name} has {size} ranks: at most {MAX_RANKS} can share memory")
        self.name, self.rank, self.size, self.members, self.process_group = name, rank, size, members, process_group
        self._store = dist.PrefixStore("symmrepl", store)
        self.calls = 0
        self.block: Any = None  # the memory of its operators: see module block
        self.broken: Optional[str] = None  # the operator that has not ended: the ranks' signals do not agree any more
        self.kept: List[Any] = []  # memory of other ranks

    def gather(self, op: str, **words: Any) -> List[Dict[str, Any]]:
        """Returns the words of all ranks, by rank. Errors: Mismatch if a rank makes another call, or none, or has another version of this package."""
        self.calls += 1
        key = f"{self.calls}/"
        self._store.set(f"{key}{self.rank}", json.dumps({"op": op, "symmrepl": __version__, **words}))
        everyone = []
        for r in range(self.size):
            try:
                with self.call(op, f"{op} {self.calls}", awaited=[self.members[r]], what="the same call"):
                    self._store.wait([f"{key}{r}"], self._patience())
            except dist.DistStoreError as e:
                call = f"number {self.calls} of group {self.name}"
                raise Mismatch(self.rank, op, f"rank {r} has not come to this call, {call}: {e}") from None
            theirs = json.loads(self._store.get(f"{key}{r}"))
            other = theirs.get("symmrepl")
            if other != __version__:
                text = f"symmrepl is {__version__} here and {other or 'another version'} on rank {r}: install one version for all ranks"
                raise Mismatch(self.rank, op, text)
            if theirs["op"] != op:
                raise Mismatch(self.rank, op, f"rank {r} calls {theirs['op']}, as call {self.calls} of group {self.name}")
            everyone.append(theirs)
        return everyone

    def _patience(self) -> datetime.timedelta:
        if self.process_group is not None:
            return c10d._get_default_timeout(dist.get_backend(self.process_group))
        return datetime.timedelta(minutes=5)

    def call(self, op: str, name: str = "", **more: Any) -> watch.Call:
        """Returns a call of this group, as others see it while it is open. name tells calls of the group apart, if all ranks make it."""
        world = len(self.members) == dist.get_world_size() if dist.is_initialized() else True
        group = "world" if world else "group " + ",".join(map(str, self.members))
        return watch.Call(op, group=group, members=self.members, name=f"{self.name}/{name}" if name else "", **more)

    def context(self, timeout: float = 0, channels: int = 0) -> bytes:
        return device().context(self.rank, self.size, timeout, channels)


def resolve(name: Optional[str], op: str) -> Group:
    """Returns the group of a name. A name that PyTorch has given to another process group since is another group."""
    if name is None:
        raise Misuse(None, op, "no group is named: pass a process group or its group_name")
    if name in _given:
        rank, size, store = _given[name]
        found = _groups.get(name)
        if found is None or found.process_group is not None:
            found = _groups[name] = Group(name, rank, size, store, list(range(size)), None)
        return found
    try:
        process_group = c10d._resolve_process_group(name)
    except (RuntimeError, ValueError) as e:
        raise Misuse(None, op, f"there is no group {name!r}: {e}") from None
    found = _groups.get(name)
    if found is None or found.process_group is not process_group:
        members = dist.get_process_group_ranks(process_group)
        store = c10d._get_process_group_store(process_group)
        found = _groups[name] = Group(name, process_group.rank(), process_group.size(), store, members, process_group)
    return found
