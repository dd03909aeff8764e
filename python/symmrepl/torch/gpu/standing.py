"""Says which call a stream stands in, and for whom, by the calls of its queue and by the signal pads."""

from __future__ import annotations

import queue
import threading
import time
from types import FrameType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch
import torch.distributed as dist

from ...emulator import lines
from ...emulator.watch import THREADS, Call
from . import calls, pads
from .driver import Driver
from .queue import Enqueued

WITHIN = 0.5
"""Seconds within which the driver answers. A copy takes 0.3 ms, unless it stands, too, such as because a kernel is to be loaded."""

_READS = (".item(", ".cpu(", ".tolist(", ".numpy(")
"""Methods by which a thread waits for the GPU, and which have no frames of their own."""

_since: Dict[Enqueued, float] = {}  # when a call was first seen to stand


class Wait(NamedTuple):
    """What a call waits for: ranks of its group, and in words; with the rank and channel of each signal in this pad that nobody has taken."""

    awaited: List[int]
    what: str
    untaken: List[Tuple[int, int]]


def wait_of(call: Enqueued, rank: int, words: pads.Words) -> Optional[Wait]:
    """Returns what a call waits for by the pads of all ranks; None if nothing is missing.

    A pad has a word for each channel and source rank. A signal sets it from 0 to 1, and its wait from 1 to 0.
    """
    world = len(words)
    channels = range(call.channel, call.channel + 1) if call.channel >= 0 else range(len(words[rank]) // world)
    missing, what = [], f"a signal on channel {call.channel}"
    if call.op == "wait_signal":
        missing = [] if words[rank][call.channel * world + call.peer] else [call.peer]
    elif call.op == "put_signal":
        missing = [call.peer] if words[call.peer][call.channel * world + rank] else []
        what = f"the previous signal on channel {call.channel} to be consumed"
    else:  # each rank signals all others first: where this rank's signal is still there, the other one has not come
        missing = [p for p in range(world) if p != rank and any(words[p][c * world + rank] for c in channels)]
        what = "the same call" if call.channel < 0 else f"the barrier on channel {call.channel}"
    if not missing:
        return None
    untaken = [(i % world, i // world) for i, word in enumerate(words[rank]) if word == 1 and i < len(words[rank]) // world * world]
    return Wait(missing, what, [] if call.channel < 0 else untaken[:8])


Found = Tuple[Enqueued, Call]
"""A call that stands, and how others see it."""


def standing() -> List[Tuple[Call, str]]:
    """Returns the calls in which the streams of this process stand, and the line of each.

    If the driver does not answer within WITHIN, these are the last ones.
    """
    global _look
    if _look is None:
        _look = _Look()
    found = _look.result()
    now = time.monotonic()
    for noted in set(_since) - {c for c, _ in found}:
        del _since[noted]
    out = []
    for noted, call in found:
        call.began = _since.setdefault(noted, now)
        out.append((call, "" if noted.code is None else lines.place(noted.code, noted.line)))
    return out


class _Look:
    """The thread that asks the driver."""

    def __init__(self) -> None:
        self._asked, self._found = queue.SimpleQueue[None](), queue.SimpleQueue[List[Found]]()
        self._asks = False  # it has not answered yet
        self.silent = False  # nor has it within the time
        threading.Thread(target=self._serve, name=THREADS + "gpus", daemon=True).start()

    def result(self) -> List[Found]:
        if not self._asks:
            self._asks = True
            self._asked.put(None)
        try:
            found = self._found.get(timeout=WITHIN)
        except queue.Empty:
            self.silent = True
            last = [q.last() for q in list(calls.queues.values())]
            return [(c, Call(c.op, own=True)) for c in last if c is not None]
        self._asks = self.silent = False
        return found

    def _serve(self) -> None:
        driver = Driver()
        while True:
            self._asked.get()
            found: List[Found] = []
            for (device, stream), q in list(calls.queues.items()):
                torch.cuda.set_device(device)
                found += _of(driver, *q.standing(driver.over, lambda: driver.mark(stream)))
            self._found.put(found)


_look: Optional[_Look] = None


def _of(driver: Driver, candidates: List[Enqueued], begun: bool) -> Iterator[Found]:
    """Yields the call among candidates that stands, if there is one. begun says that the first one has begun."""
    if not candidates:
        return
    for c in (inner for outer in candidates for inner in (outer.within or [outer])):
        handle = calls.handle_of(c)
        words = None if handle is None else pads.read(driver, handle, calls.pad_of(handle))
        wait = None if words is None else wait_of(c, handle.rank, words)
        if wait is not None:
            members = calls.members_of(handle)
            group = "" if len(members) == _world() else "group " + ",".join(map(str, members))
            yield (
                c,
                Call(
                    c.op, group=group, members=members, awaited=[members[p] for p in wait.awaited], what=wait.what,
                    untaken=lambda: [(members[p], channel) for p, channel in wait.untaken], sure=begun and not candidates[0].within,
                ),
            )  # fmt: skip
            return
    yield candidates[0], Call(candidates[0].op, own=True)


def _world() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def waits_for_gpu(frame: FrameType) -> bool:
    """Reports whether a thread that stands at a frame does nothing until the GPU has run what is enqueued."""
    if _look is not None and _look.silent or frame.f_code.co_filename == calls.__file__:
        return True  # it waits in the driver, or will; or it enqueues a call, and there is no room left
    if frame.f_code.co_name == "synchronize":
        return str(frame.f_globals.get("__name__")).startswith("torch.cuda")
    user = lines.program_frame(frame)
    text = lines.expression(frame)
    return user is frame and (any(word in text for word in _READS) or text.endswith(".synchronize()"))
