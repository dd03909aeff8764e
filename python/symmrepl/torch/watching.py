"""A program of PyTorch's own torchrun is watched as one of symmrepl torchrun is."""

from __future__ import annotations

import os
import sys
from typing import Optional

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from .. import __version__
from ..emulator import versions
from ..emulator import watch as emulated
from ..emulator.companion import Companion
from ..emulator.errors import Unavailable
from . import gpu
from .errors import Misuse

_DEADLOCK = ("wait", "end")
_calls = 0  # that have got to the store
_companion: Optional[Companion] = None  # of rank 0


def watch(deadlock: str = "wait") -> None:
    """Begins to watch the program, as `symmrepl torchrun` does. It is collective: all ranks call it, after init_process_group.

    Rank 0 starts a process that asks all ranks what they do, and that shows on standard error which rank waits in
    which call, at which line, and for whom, when the program stands. With deadlock="end" it ends the ranks if their waits
    cannot end. It lasts as long as rank 0. Under `symmrepl torchrun`, and when it is called again, nothing is done.

    Errors: Misuse; Unavailable if the process cannot be started or reached, or is of another version.
    """
    global _calls, _companion
    if emulated.watched():
        return
    rank = dist.get_rank() if dist.is_initialized() else None
    if deadlock not in _DEADLOCK:
        raise Misuse(rank, "watch", f"deadlock is {deadlock!r}: it must be one of {', '.join(_DEADLOCK)}")
    if rank is None:
        raise Misuse(None, "watch", "there is no process group: call torch.distributed.init_process_group before")
    world = dist.get_world_size()
    if os.environ.get("LOCAL_WORLD_SIZE", str(world)) != str(world):
        raise Misuse(rank, "watch", "the ranks are on several hosts: only those of one host can be watched")
    _calls += 1
    store, key = c10d._get_default_store(), f"symmrepl/watch/{_calls}"
    if rank == 0:
        try:
            _companion = Companion()
            answer = f"at {__version__} {_companion.watch(os.path.basename(sys.argv[0]), world, deadlock)}"
        except Unavailable as e:
            answer = f"not {e}"
        store.set(key, answer)
    try:
        found, _, words = store.get(key).decode().partition(" ")
    except dist.DistStoreError as e:
        raise Unavailable(f"rank {rank}: rank 0 does not call watch: {e}") from None
    if found != "at":
        raise Unavailable(f"rank {rank}: the program cannot be watched: {words}")
    version, _, socket = words.partition(" ")
    versions.check("the package symmrepl of rank 0", version)
    emulated.join(socket, rank)
    if torch.version.cuda is not None:
        gpu.install()
