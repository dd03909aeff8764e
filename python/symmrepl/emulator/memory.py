"""Memory that the processes of one host share, with guard addresses around it."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from .errors import Unavailable

GUARD = 1 << 20
"""The size of the guard areas around a segment: an index that is wrong by less faults, and does not change other memory."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value
_PROT_NONE, _MAP_FIXED, _MAP_NORESERVE = 0, 0x10, 0x4000  # names that module mmap lacks
_ADD_SEALS, _SEALS = 1033, 1 | 2 | 4  # fcntl's F_ADD_SEALS; against further seals, shrinking and growing


class Part(NamedTuple):
    """A thing in a segment, for findings of the sanitizer: "float32[64]", and what an element of it is called, and its size."""

    offset: int
    bytes: int
    name: str
    element: str
    size: int


class Area(NamedTuple):
    """Memory that is mapped in this process. peer is the rank whose memory it is, -1 for this process."""

    address: int
    size: int
    inode: int
    mine: bool
    peer: int
    parts: List[Part]


_areas: Dict[int, Area] = {}  # what is mapped now, by address
_starts: List[int] = []  # the addresses, in order
_lent: Dict[int, Area] = {}  # memory of the process that a kernel has at present
_watcher: Any = None  # the sanitizer, if there is one


def watch_by(watcher: Any) -> None:
    """Lets the sanitizer watch what is mapped and what will be: calls its methods mapped and unmapped."""
    global _watcher
    _watcher = watcher
    for area in list(_areas.values()):
        watcher.mapped(area)


def within(address: int) -> bool:
    """Reports whether an address lies in memory that is shared."""
    return _area(address) is not None


def of_another(address: int) -> bool:
    """Reports whether an address lies in memory that another process shares with this one."""
    area = _area(address)
    return area is not None and not area.mine


def _area(address: int) -> Optional[Area]:
    i = bisect.bisect_right(_starts, address)
    area = _areas.get(_starts[i - 1]) if i else None
    return area if area is not None and address < area.address + area.size else None


@contextlib.contextmanager
def lent(things: Sequence[Area]) -> Iterator[None]:
    """Lets `described` know of memory that is not shared."""
    for area in things:
        _lent[area.address] = area
    try:
        yield
    finally:
        for area in things:
            _lent.pop(area.address, None)


def described(address: int) -> Optional[Dict[str, Any]]:
    """Returns what an address lies in or nearest to, in the form of findings; None if nothing is near."""
    shared = (a for a in list(_areas.values()) if a.address - GUARD <= address < a.address + a.size + GUARD)
    inside = (a for a in list(_lent.values()) if a.address <= address < a.address + a.size)
    area = next((a for a in (*inside, *shared) if a.parts), None)
    if area is None:
        return None
    offset = address - area.address
    p = min(area.parts, key=lambda p: max(p.offset - offset, offset - (p.offset + p.bytes - 1), 0))
    return {"name": p.name, "peer": area.peer, "address": area.address + p.offset, "bytes": p.bytes, "element": p.element, "size": p.size}


def _host() -> str:
    """Returns a word that only processes of one host have in common."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip() or "-"
    except OSError:
        return "-"


_ONE_HOST = "all ranks run on one host, as one user, in one container"


class Segment:
    """Memory of this process that others can map: zeroed, and rounded up to pages. It is unmapped when this object is gone.

    parts are what lies in it: kernels access nothing else there.
    """

    def __init__(self, size: int, parts: Sequence[Part] = ()) -> None:
        self.parts = list(parts)
        self.size = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            self.descriptor = os.memfd_create("symmrepl", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError as e:
            raise Unavailable(f"shared memory of {size} bytes: {e}") from e
        weakref.finalize(self, os.close, self.descriptor)
        try:
            os.ftruncate(self.descriptor, self.size)
            fcntl.fcntl(self.descriptor, _ADD_SEALS, _SEALS)
        except (OSError, OverflowError) as e:
            raise Unavailable(f"shared memory of {size} bytes: {e}") from e
        self.address = _mapped(self, self.descriptor, self.size, -1, self.parts)

    @property
    def name(self) -> str:
        """A text by which another process of this user maps the memory, as long as this one has it: `Mapping`."""
        name = f"{os.getpid()} {self.descriptor} {self.size} {os.fstat(self.descriptor).st_ino} {_host()}"
        return name if _watcher is None else f"{name} {json.dumps([_watcher.rank, *self.parts])}"


class Mapping:
    """Another process's segment in this one, by its name. It is unmapped when this object is gone."""

    def __init__(self, name: str) -> None:
        words = name.split(None, 5)
        owner, descriptor, size, inode = (int(word) for word in words[:4])
        host, *rest = words[4:] or ("",)
        found: List[Any] = json.loads(rest[0]) if rest else [0]
        peer, parts = found[0], [Part(*p) for p in found[1:]]
        if host != _host():
            raise Unavailable(f"process {owner} runs on another host: {_ONE_HOST}")
        try:
            fd = os.open(f"/proc/{owner}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
        except OSError as e:
            raise Unavailable(f"the memory of process {owner} cannot be mapped: {e}: {_ONE_HOST}") from e
        try:
            there = os.fstat(fd)
            if there.st_ino != inode:  # its number is another process's here, or it has ended
                raise Unavailable(f"process {owner} has other memory at descriptor {descriptor}: has it ended? {_ONE_HOST}")
            if there.st_size != size:
                raise Unavailable(f"the memory of process {owner} has {there.st_size} bytes, not {size}: has the process ended?")
            self.size = size
            self.address = _mapped(self, fd, size, peer, parts)
        finally:
            os.close(fd)


def _mapped(owner: object, descriptor: int, size: int, peer: int, parts: Sequence[Part]) -> int:
    """Maps a descriptor between guard areas until owner is gone, and returns the address."""
    whole = _libc.mmap(None, size + 2 * GUARD, _PROT_NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE, -1, 0)
    if whole == _FAILED:
        raise Unavailable(f"address space for {size} bytes: {os.strerror(ctypes.get_errno())}")
    if _libc.mmap(whole + GUARD, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | _MAP_FIXED, descriptor, 0) == _FAILED:
        error = os.strerror(ctypes.get_errno())
        _libc.munmap(whole, size + 2 * GUARD)
        raise Unavailable(f"{size} bytes cannot be mapped: {error}")
    area = Area(int(whole) + GUARD, size, os.fstat(descriptor).st_ino, isinstance(owner, Segment), peer, list(parts))
    weakref.finalize(owner, _unmap, area).atexit = False  # kernels may still run at the end of the process
    _areas[area.address] = area
    bisect.insort(_starts, area.address)
    if _watcher is not None:
        _watcher.mapped(area)
    return area.address


def _unmap(area: Area) -> None:
    del _areas[area.address]
    del _starts[bisect.bisect_left(_starts, area.address)]
    if _watcher is not None:
        _watcher.unmapped(area)
    _libc.munmap(area.address - GUARD, area.size + 2 * GUARD)
