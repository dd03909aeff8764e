"""The sanitizer of programs whose own processes are the ranks.

It watches every access of kernels, as the sanitizer of sessions does. It is on in a process whose environment
names a shadow, the memory by which all ranks are watched together: then a device is watched, or cannot be opened.

    SYMMREPL_SANITIZE  the shadow: what the companion answers to ``{"shadow": true}``
    SYMMREPL_SEED      chooses between orders in which threads and blocks may run; 0 or absent leaves the order as it is
    RANK               the number of this process among the ranks, as torchrun sets it

What is found comes in reports (type Report of the Go package symmem/foreign), which go to `deliver`: after the launch
that showed it, and a last one, with ``ended``, at the end of the process. A rank without a last report may have more
findings.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import linecache
import mmap
import os
import threading
import zlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from . import memory
from .errors import Unavailable
from .lines import caller, shown

Report = Dict[str, Any]

RUN = 1
"""The number of the one cell that a program is."""

_MOST = 1000
"""Findings that the device keeps between two calls."""

deliver: Optional[Callable[[Report], None]] = None
"""Takes the reports of this process, in any thread. Until it is set they are kept in `kept`."""

kept: List[Report] = []

_current: Optional[Sanitizer] = None


class _Place(ctypes.Structure):
    """emu_place."""

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("rank", "thread", "block", "pc", "how", "module", "host", "carried", "stream", "sequence")),
        ("caller", ctypes.c_int32),
        ("grid", ctypes.c_uint32 * 3),
        ("block_dim", ctypes.c_uint32 * 3),
        ("kernel", ctypes.c_char * 64),
    ]


class _Finding(ctypes.Structure):
    """emu_finding."""

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("kind", "why", "count", "accesses", "size")),
        ("address", ctypes.c_uint64),
        ("memory", ctypes.c_char * 64),
        ("place", _Place * 2),
    ]


_TEXT = ctypes.POINTER(ctypes.c_char_p)
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "emu_sanitize": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64]),
    "emu_watch": (None, [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint64]),
    "emu_unwatch": (None, [ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int]),
    "emu_watch_among": (None, [ctypes.c_size_t, ctypes.c_size_t]),
    "emu_mark": (None, [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint32]),
    "emu_module_watch": (None, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p]),
    "emu_module_variable": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_char_p]),
    "emu_watched_module": (ctypes.c_int, [ctypes.c_uint32, _TEXT, _TEXT, ctypes.POINTER(ctypes.c_uint32), _TEXT]),
    "emu_calling": (None, [ctypes.c_void_p, ctypes.c_int32]),
    "emu_publish": (None, [ctypes.c_void_p]),
    "emu_observe": (None, [ctypes.c_void_p]),
    "emu_begin": (None, [ctypes.c_void_p, ctypes.c_uint64]),
    "emu_end": (None, [ctypes.c_void_p, ctypes.c_uint64]),
    "emu_touched_rows": (None, [ctypes.c_void_p, *[ctypes.c_size_t] * 4, ctypes.c_int]),
    "emu_findings": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.POINTER(_Finding), ctypes.c_size_t]),
}


def wanted() -> bool:
    """Reports whether the devices of this process are to be watched."""
    return "SYMMREPL_SANITIZE" in os.environ


def current() -> Optional[Sanitizer]:
    """Returns the sanitizer of this process, or None if it is off or no device is open."""
    return _current


def watch(library: Any, device: int) -> Optional[Sanitizer]:
    """Begins to watch a device that was just opened, if that is wanted. Errors: Unavailable if it cannot be watched."""
    global _current
    if not wanted():
        return None
    if _current is not None:
        raise Unavailable("the sanitizer watches another device of this process: a process has one")
    _current = Sanitizer(library, device, os.environ["SYMMREPL_SANITIZE"], _given("RANK", None), _given("SYMMREPL_SEED", 0))
    return _current


def publish() -> None:
    """Notes that this rank has come to a meeting with others, or tells them something."""
    if _current is not None:
        _current.publish()


def observe() -> None:
    """Notes that this rank has met others, or has heard of them: what they did before they published came before what follows."""
    if _current is not None:
        _current.observe()


def _given(name: str, otherwise: Optional[int]) -> int:
    text = os.environ.get(name, "" if otherwise is None else str(otherwise))
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) < 1 << (32 if otherwise is None else 63)):
        raise Unavailable(
            f"the sanitizer of this program needs a number in {name}, which is {text!r}: start it by symmrepl torchrun --sanitize"
        )
    return int(text)


class Sanitizer:
    """The sanitizer of this process's device. Every method may be called by several threads."""

    def __init__(self, library: Any, device: int, shadow: str, rank: int, seed: int) -> None:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._library, self._device, self.rank, self.seed = library, device, rank, seed
        why = library.emu_sanitize(device, shadow.encode(), rank, seed)
        if why is not None:
            raise Unavailable(f"the sanitizer cannot watch this process: {why.decode()}")
        self.before: Optional[Callable[[], None]] = None
        """Is called before each launch or access, and may call `observe`."""
        self._owner = os.getpid()
        self._lock = threading.Lock()  # guards the fields below
        self._lines: Dict[int, Tuple[str, int]] = {}
        self._numbers: Dict[Tuple[str, int], int] = {}
        self._untold: List[int] = []  # numbers of lines in no report yet
        self._unseen: Dict[str, Dict[str, Any]] = {}
        self._untold_unseen: List[str] = []
        self._found = (_Finding * _MOST)()
        self._ended = False
        library.emu_begin(device, RUN)
        memory.watch_by(self)
        atexit.register(self.end)

    def module(self, handle: int, path: str, name: str, line: int, text: str) -> None:
        """Names a module that was loaded; name is "" for one that is not the program's. Errors: Unavailable if nobody would see its accesses."""
        if not self._library.emu_module_variable(handle, b"emu_module_apart"):
            raise Unavailable(f"{path} was not compiled to be watched by the sanitizer")
        self._library.emu_module_watch(handle, path.encode(), name.encode(), line, text.encode())

    def mapped(self, area: memory.Area) -> None:
        """Watches memory from its mapping on."""
        self._library.emu_watch(area.address, area.size, area.inode)
        at = 0
        for part in sorted(area.parts) if area.mine else ():
            self._outside(area, at, part.offset)
            at = part.offset + part.bytes
        if at:
            self._outside(area, at, area.size)

    def _outside(self, area: memory.Area, begin: int, end: int) -> None:
        if begin < end:
            self._library.emu_mark(area.address + begin, end - begin, 0)

    def unmapped(self, area: memory.Area) -> None:
        self._library.emu_unwatch(area.address, area.inode, area.mine)

    @contextlib.contextmanager
    def lending(self, things: Sequence[memory.Area]) -> Iterator[None]:
        """Watches memory of the process while a kernel has it: whole pages, with what else is in them."""
        page = mmap.PAGESIZE
        spans: List[Tuple[int, int]] = []
        for begin, end in sorted((a.address // page * page, -(-(a.address + a.size) // page) * page) for a in things if a.size):
            if spans and begin <= spans[-1][1]:
                begin, end = spans[-1][0], max(end, spans.pop()[1])
            spans.append((begin, end))
        for begin, end in spans:
            self._library.emu_watch_among(begin, end - begin)
        try:
            with memory.lent(things):
                yield
        finally:
            for begin, _ in spans:
                self._library.emu_unwatch(begin, 0, 1)

    def calling(self) -> None:
        """Says which line of the program makes the next launch or access."""
        if self.before is not None:
            self.before()
        self._library.emu_calling(self._device, self._number(caller()))

    def _number(self, at: Tuple[str, int]) -> int:
        """Returns the number of a line, which is the same in all ranks, unless two lines have the same checksum."""
        known = self._numbers.get(at)
        if known is not None:
            return known
        number = zlib.crc32(f"{at[0]}:{at[1]}".encode()) & 0x7FFFFFFF or 1
        with self._lock:
            while self._lines.setdefault(number, at) != at:
                number = number % 0x7FFFFFFF + 1
            self._numbers[at] = number
            self._untold.append(number)
        return number

    def publish(self) -> None:
        self._library.emu_publish(self._device)

    def observe(self) -> None:
        self._library.emu_observe(self._device)

    def touched(self, address: int, size: int, write: bool, rows: int = 1, pitch: int = 0) -> None:
        """Notes that this process itself reads or writes memory, at the line of `calling`: rows that begin pitch bytes apart."""
        self._library.emu_touched_rows(self._device, address, size, rows, pitch, write)

    def unseen(self, what: str) -> None:
        """Notes that the program has begun to access memory in a way that nobody sees. The first time counts."""
        with self._lock:
            if what not in self._unseen:
                self._unseen[what] = _line(caller())
                self._untold_unseen.append(what)

    def collect(self) -> None:
        """Delivers a report if there is a finding in it."""
        found = self._take()
        if found:
            self._deliver(self._report(found))

    def report(self) -> Report:
        """Returns what no report has said yet, for a process that will be ended. It is not delivered."""
        return self._report(self._take())

    def end(self) -> None:
        """Delivers the last report, at the end of the process or of the device."""
        if self._ended or os.getpid() != self._owner:  # in a child that was forked
            return
        self._ended = True
        self._library.emu_end(self._device, RUN)
        self._deliver({**self._report(self._take()), "ended": True})

    def _deliver(self, report: Report) -> None:
        if deliver is None:
            kept.append(report)
        else:
            deliver(report)

    def _report(self, found: List[Dict[str, Any]]) -> Report:
        with self._lock:
            lines, self._untold = self._untold, []
            unseen, self._untold_unseen = self._untold_unseen, []
            return {
                "rank": self.rank,
                "seed": self.seed,
                "lines": {str(number): _line(self._lines[number]) for number in lines},
                "findings": found,
                "unseen": [{"what": what, "at": self._unseen[what]} for what in unseen],
            }

    def _take(self) -> List[Dict[str, Any]]:
        with self._lock:
            n = min(self._library.emu_findings(self._device, self._found, _MOST), _MOST)
            return [self._finding(f) for f in self._found[:n]]

    def _finding(self, f: _Finding) -> Dict[str, Any]:
        return {
            "kind": f.kind,
            "why": f.why,
            "count": f.count,
            "size": f.size,
            "address": f.address,
            "memory": f.memory.decode(errors="replace"),
            "places": [self._place(p) for p in f.place[: f.accesses]],
            "in": memory.described(f.address),
        }

    def _place(self, p: _Place) -> Dict[str, Any]:
        return {
            "rank": p.rank,
            "block": _unfolded(p.block, p.grid),
            "thread": _unfolded(p.thread, p.block_dim),
            "pc": p.pc,
            "write": bool(p.how & 1),
            "atomic": bool(p.how & 2),
            "host": bool(p.host),
            "part": p.carried,
            "module": self._module(p.module),
            "kernel": p.kernel.decode(errors="replace"),
            "caller": p.caller,
            "stream": p.stream,
            "number": p.sequence,
        }

    def _module(self, number: int) -> Optional[Dict[str, Any]]:
        texts = [ctypes.c_char_p() for _ in range(3)]
        line = ctypes.c_uint32()
        library, name, text = (ctypes.byref(t) for t in texts)
        if not self._library.emu_watched_module(number, library, name, ctypes.byref(line), text):
            return None
        names = [(t.value or b"").decode(errors="replace") for t in texts]
        return {"library": names[0], "name": names[1], "line": line.value, "text": names[2]}


def _unfolded(index: int, extents: Sequence[int]) -> List[int]:
    out = []
    for extent in extents:
        out.append(index % extent if extent else 0)
        index //= max(extent, 1)
    return out


def _line(at: Tuple[str, int]) -> Dict[str, Any]:
    file, line = at
    return {"file": shown(file), "line": line, "source": linecache.getline(file, line).rstrip()}
