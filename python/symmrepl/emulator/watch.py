"""What this process does at the moment, for `symmrepl torchrun`, which explains programs that stand.

That program starts the ranks. Each has a Unix socket to it, whose descriptor is in the variable SYMMREPL_WATCH, with the version
of the program behind it, and answers its questions in a thread of its own: which calls are open, since when, at which line of the program, and
what the waits of kernels wait for. The Go package cmd/symmrepl/internal/torchrun has the records.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import threading
import time
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Protocol, Sequence, Tuple

from . import lines, sanitize, versions
from .errors import Unavailable

if TYPE_CHECKING:
    from .device import Device

Record = Dict[str, int]
"""A wait of a kernel: the fields of symm::WaitRecord in kernels/include/symm/context.cuh."""

VARIABLE = "SYMMREPL_WATCH"
THREADS = "symmrepl-"
"""Begins the names of this package's own threads, which are none of the program's."""


class Call:
    """A call in which other ranks take part, or a launch. It is open within its `with`.

    members are the world ranks of the group, by their ranks in it. name is equal on all members for one collective
    call, and "" for another operation. own says that the kernel is the program's, which may do anything. awaited are
    the world ranks for which the call waits on the host, or on another device than the emulated one, and what names what it waits
    for. sure says that only these ranks end the wait. untaken returns the signals that came to the pad of this name and that no
    wait has taken.
    """

    __slots__ = (
        "op", "group", "members", "ordinal", "name", "own", "awaited", "what", "limit", "pad", "untaken", "sure", "began", "_before",
    )  # fmt: skip

    def __init__(
        self,
        op: str,
        *,
        group: str = "",
        members: Sequence[int] = (),
        ordinal: int = 0,
        name: str = "",
        own: bool = False,
        awaited: Sequence[int] = (),
        what: str = "",
        limit: float = 0,
        pad: str = "",
        untaken: Optional[Callable[[], List[Tuple[int, int]]]] = None,
        sure: bool = True,
    ) -> None:
        self.op, self.group, self.members, self.ordinal, self.name = op, group, members, ordinal, name
        self.own, self.awaited, self.what, self.limit = own, awaited, what, limit
        self.pad, self.untaken, self.sure = pad, untaken, sure

    def __enter__(self) -> Call:
        global _moves
        _moves += 1
        thread = threading.get_ident()
        self._before, self.began = _open.get(thread), time.monotonic()
        _open[thread] = self
        return self

    def __exit__(self, *_: Any) -> None:
        global _moves
        _moves += 1
        if self._before is None:
            del _open[threading.get_ident()]
        else:
            _open[threading.get_ident()] = self._before

    def described(self, at: str) -> Dict[str, Any]:
        words = {"op": self.op, "group": self.group, "members": list(self.members), "ordinal": self.ordinal, "name": self.name}
        words.update(own=self.own, awaited=list(self.awaited), what=self.what, limit=self.limit, sure=self.sure)
        words.update(since=time.monotonic() - self.began)
        return {**words, "at": at, "pad": self.pad, "untaken": self.untaken() if self.untaken is not None else []}


_open: Dict[int, Call] = {}  # by thread
_moves = 0
_device: Optional[weakref.ref[Device]] = None
_socket: Optional[socket.socket] = None
_sending = threading.Lock()
_owner = 0  # the process that answers

asked: Dict[str, Callable[[Dict[str, Any]], Dict[str, Any]]] = {}
"""What `symmrepl attach` asks for besides: functions from a request to fields of the answer, by the request's field what."""

explain: Callable[[FrameType], Optional[Call]] = lambda frame: None
"""Returns the call in which the innermost frame of a thread stands, if another package knows it, such as that of gloo."""

puts: Callable[[], List[Dict[str, Any]]] = lambda: []
"""Returns the signals that this rank has put and that no wait has taken: the pad, the world rank, the channel and the line of each."""


def device_opened(device: Device) -> None:
    """Notes the device of this process, and starts to answer."""
    global _device
    _device = weakref.ref(device)
    start()


def start() -> None:
    """Begins to answer, if this process was started to be watched. Errors: Unavailable if the variable is wrong or of another version."""
    global _socket, _owner
    value = os.environ.pop(VARIABLE, None)  # this process's, and none of those that it starts
    if value is None:
        return
    number, _, version = value.partition(" ")
    try:
        if not stat.S_ISSOCK(os.fstat(int(number)).st_mode):
            raise ValueError("it is no socket")
        versions.check("symmrepl torchrun, which has started this process,", version)
        os.set_inheritable(int(number), False)
        _socket, _owner = socket.socket(fileno=int(number)), os.getpid()
    except (ValueError, OSError) as e:
        raise Unavailable(f"{VARIABLE} is {value!r}, which symmrepl torchrun sets for its ranks: {e}") from None
    sanitize.deliver = lambda report: send({"report": report})
    _begin()


def join(path: str, rank: int) -> None:
    """Begins to answer at a socket, where a program waits for all ranks. Errors: Unavailable."""
    global _socket, _owner
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as e:
        connection.close()
        raise Unavailable(f"rank {rank} cannot connect to the process that watches, at {path}: {e}") from None
    _socket, _owner = connection, os.getpid()
    _begin(rank=rank)


def _begin(**words: int) -> None:
    threading.Thread(target=_serve, args=(_socket,), name=THREADS + "watch", daemon=True).start()
    send({"watched": 1, **words})


def watched() -> bool:
    """Reports whether somebody watches this process, and not only the one that has forked it."""
    return _socket is not None and os.getpid() == _owner


def send(message: Dict[str, Any]) -> None:
    """Sends a message, if somebody watches."""
    if _socket is None:
        return
    line = json.dumps(message).encode() + b"\n"
    with _sending:
        try:
            _socket.sendall(line)
        except OSError:
            pass  # the program that watches has ended, and this process with it


def _serve(connection: socket.socket) -> None:
    with connection.makefile("rb") as questions:
        for line in questions:
            try:
                question = json.loads(line)
                if "ask" in question:  # the program's own objects may take their time
                    threading.Thread(target=_reply, args=(question,), name=THREADS + "request", daemon=True).start()
                else:
                    send({"id": question["id"], **_answer_at_all()})
            except (ValueError, TypeError, KeyError, RuntimeError):
                continue


def _reply(request: Dict[str, Any]) -> None:
    function = asked.get(request.get("what", ""))
    try:
        answer = {"err": "the program lends no tensors"} if function is None else function(request)
    except Unavailable as e:
        answer = {"err": str(e)}
    except BaseException as e:  # of the program's own objects
        answer = {"err": f"{type(e).__name__}: {e}"}
    send({"ask": request["ask"], **answer})


def _answer_at_all() -> Dict[str, Any]:
    try:
        return _answer()
    except Exception as e:  # of PyTorch, whose objects change meanwhile
        return {"main": {"at": f"a place that cannot be told: {e!r}"}}


class Enqueued(Protocol):
    """Knows what the process has enqueued on GPUs."""

    def moves(self) -> int:
        """Returns a number that grows with what is enqueued."""

    def standing(self) -> List[Tuple[Call, str]]:
        """Returns the calls in which GPUs stand, each with its line of the program."""

    def waits(self, frame: FrameType) -> bool:
        """Reports whether a thread at this frame waits until its GPU has done what is enqueued."""


enqueued: Optional[Enqueued] = None

_last: Dict[int, Call] = {}  # the last call that explain has returned, by thread


def _explained(thread: int, frame: FrameType) -> Optional[Call]:
    call, before = explain(frame), _last.pop(thread, None)
    if call is not None:
        same = before is not None and (before.op, before.name) == (call.op, call.name)
        call.began = before.began if before is not None and same else time.monotonic()
        _last[thread] = call
    return call


def _answer() -> Dict[str, Any]:
    named = {t.ident: t.name for t in threading.enumerate()}
    main = threading.main_thread().ident
    calls, where, stands = [], {}, True
    for thread, frame in sys._current_frames().items():
        if named.get(thread, "").startswith(THREADS):
            continue
        call = _open.get(thread) or _explained(thread, frame)
        user = lines.program_frame(frame)
        at = lines.described(user)
        inside = call is not None or enqueued is not None and enqueued.waits(frame)
        if call is not None:
            calls.append(call.described(at))
        stands = stands and inside  # otherwise it may do anything
        if thread == main:
            where = {"at": at, "text": lines.expression(user), "inside": inside}
    device = _device() if _device is not None else None
    records = device.pending() if device is not None else []
    on_gpus = 0 if enqueued is None else enqueued.moves()
    if enqueued is not None and on_gpus:
        calls += [call.described(at) for call, at in enqueued.standing()]
    return {
        "moves": _moves + on_gpus, "stands": stands, "calls": calls, "main": where, "records": records, "gpu": on_gpus > 0,
        "puts": puts(),
    }  # fmt: skip
