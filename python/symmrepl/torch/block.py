"""The memory that the ranks of a group share for their operators: signals, counts, and records of their calls."""

from __future__ import annotations

import ctypes
import hashlib
import struct
import time
import zlib
from typing import Any, Dict, List, Optional, Tuple

from ..emulator import watch
from ..emulator.memory import Mapping, Segment
from . import signals
from .errors import Mismatch, Misuse
from .groups import Group, device

CHANNELS = 64
"""For barriers of operators: a kernel with a barrier in every block has at most so many blocks."""
_COUNTERS = 64

_HEAD = struct.Struct("<QII")  # of a record: the number of the call, the length of its text, a checksum of both
_RECORD = 1024
_MOST = _RECORD - _HEAD.size
_LOOK, _SPIN = 0.00002, 0.002
"""The seconds after which the host looks for the other ranks' records again, and for which it does. Then a kernel waits."""


class Block:
    """The memory of a group, as one of its ranks sees it.

    A rank records each of its calls in its own memory, in two places in turn. It overwrites a record only after all
    ranks have made the next call, and so have read it.
    """

    def __init__(self, group: Group) -> None:
        """Collective."""
        self.group = group
        self._records = 4 * ((CHANNELS * (2 * group.size + 1) + 2) // 2 * 2) + 8 * _COUNTERS
        self._counts = self._records + 2 * _RECORD
        self.signals = self._shared("memory of operators", self._counts + 8 * group.size)
        """The addresses of the ranks' signal blocks."""
        self._views = [memoryview((ctypes.c_char * (2 * _RECORD)).from_address(at + self._records)).cast("B") for at in self.signals]
        self._others = [(group.rank + k) % group.size for k in range(1, group.size)]
        self._calls = 0
        self.awaited = [0] * group.size
        """The number of counts of each rank that this rank has awaited."""
        self._inbox: Optional[Tuple[int, List[int]]] = None

    def _shared(self, what: str, size: int) -> List[int]:
        """Returns the addresses of zeroed memory by rank. Collective."""
        mine = Segment(size)
        addresses = []
        for r, theirs in enumerate(self.group.gather(what, memory=mine.name)):
            memory: Any = mine if r == self.group.rank else Mapping(theirs["memory"])
            self.group.kept.append(memory)
            addresses.append(memory.address)
        self.group.gather(what)  # all have mapped before any may end
        return addresses

    def count(self, owner: int, source: int) -> int:
        """Returns the address of the word in owner's memory that counts the signals of source."""
        return self.signals[owner] + self._counts + 8 * source

    def compare(self, op: str, words: Dict[str, str]) -> None:
        """Returns when all ranks have made this call. Errors: Mismatch, on all ranks, if they have made different ones."""
        group = self.group
        if group.broken is not None:
            raise Misuse(group.rank, op, f"group {group.name} is of no use after {group.broken} was interrupted: make another group")
        self._calls += 1
        text = "\n".join((op, *(f"{name} is {value}" for name, value in words.items()))).encode()
        if len(text) > _MOST:
            text = text[: _MOST - 70] + b"\nthe rest is " + hashlib.sha1(text).hexdigest().encode()
        record = _HEAD.pack(self._calls, len(text), zlib.crc32(text, self._calls)) + text
        at = self._calls % 2 * _RECORD
        self._views[group.rank][at : at + len(record)] = record
        difference: Optional[Mismatch] = None
        try:
            for r in self._others:
                view, began = self._views[r], 0.0
                while view[at : at + len(record)] != record:
                    theirs = self._read(view, at)
                    if theirs is not None:
                        if theirs != text:  # it may have come meanwhile
                            difference = difference or self._difference(op, text, r, theirs)
                        break
                    began = began or time.monotonic()
                    if time.monotonic() - began < _SPIN:
                        time.sleep(_LOOK)
                    else:
                        self._await(op, r, self.signals[r] + self._records + at)
        except BaseException:
            group.broken = op
            raise
        if difference is not None:
            raise difference

    def _read(self, view: memoryview, at: int) -> Optional[bytes]:
        """Returns the text of another rank's record of this call, or None if it is not there, or not all of it."""
        call, length, check = _HEAD.unpack_from(view, at)
        if call != self._calls or length > _MOST:
            return None
        text = bytes(view[at + _HEAD.size : at + _HEAD.size + length])
        return text if zlib.crc32(text, call) == check else None

    def call(self, op: str, **more: Any) -> watch.Call:
        """Returns the call of an operator that has begun last, as others see it while it is open."""
        return self.group.call(op, f"operator {self._calls}", ordinal=self._calls, **more)

    def _await(self, op: str, peer: int, word: int) -> None:
        """Waits on the device, where the waits of kernels are seen, until a rank has begun this call."""
        arguments = self.group.context() + struct.pack("<QQiI", word, self._calls, peer, 0)
        call = self.call(op, awaited=[self.group.members[peer]], what="the same call")
        device().launch(signals.kernel("reached"), (1, 1, 1), (1, 1, 1), arguments, call=call)

    def _difference(self, op: str, mine: bytes, peer: int, theirs: bytes) -> Mismatch:
        (_, *own), (other, *words) = (text.decode(errors="replace").split("\n") for text in (mine, theirs))
        if other != op:
            return Mismatch(self.group.rank, op, f"rank {peer} calls {other}, as call {self._calls} of group {self.group.name}")
        for a, b in zip(own, words):
            if a != b:
                return Mismatch(self.group.rank, op, f"{a} here and {b.partition(' is ')[2]} on rank {peer}")
        return Mismatch(self.group.rank, op, f"the call of rank {peer} has {len(words)} parts, and this one {len(own)}")

    def inbox(self, blocks: int) -> Tuple[int, List[int]]:
        """Returns the addresses of the words that count epochs, and of the ranks' inboxes of packets. Collective at first."""
        if self._inbox is None:
            epochs = 4 * CHANNELS
            at = self._shared("memory of packets", epochs + blocks * 2 * self.group.size * 512 * 16)
            self._inbox = at[self.group.rank], [a + epochs for a in at]
        return self._inbox


def of(group: Group) -> Block:
    """Returns the memory of a group. The first call is collective."""
    if group.block is None:
        group.block = Block(group)
    found: Block = group.block
    return found
