"""The process that holds a session, and the messages to it: lines of JSON, which docs/python.md describes."""

from __future__ import annotations

import collections
import json
import os
import queue
import subprocess
import threading
import weakref
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence

from .errors import ArgumentError, ProtocolError, SessionLost, StartError

PROTOCOL = 1
"""The version of the messages."""

Message = Dict[str, Any]


MAX_LINE = 64 << 20
"""The longest message in bytes."""


class Request:
    """A request whose last answer has not come."""

    def __init__(self, id: int) -> None:
        self.id = id
        self.answers: queue.Queue[Message] = queue.Queue()


class Channel:
    """A process ``symmrepl serve``. It ends when this process ends, even if this process is killed."""

    def __init__(self, command: Sequence[str], environment: Optional[Mapping[str, str]], timeout: float) -> None:
        env = {**os.environ, **(environment or {})}
        try:
            # The process gets a session of its own. Then Ctrl-C at a terminal reaches only this process, which cancels the request.
            self.process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True
            )
        except OSError as e:
            raise StartError(f"{command[0]} cannot be started: {e}") from e
        self.said: Deque[str] = collections.deque(maxlen=200)
        self._lock = threading.Lock()
        self._open: Dict[int, Request] = {}
        self._last = 0
        self._lost: Optional[str] = None
        self._end = weakref.finalize(self, _end, self.process)
        greeting: queue.Queue[Optional[Message]] = queue.Queue()
        reference = weakref.ref(self)
        errors = threading.Thread(target=_note, args=(self.process.stderr, self.said), daemon=True)
        errors.start()
        threading.Thread(target=_read, args=(self.process, reference, greeting), daemon=True).start()
        try:
            first = greeting.get(timeout=timeout)
        except queue.Empty:
            self.close(0)
            raise StartError(f"no session after {timeout:g} s" + self._words()) from None
        except BaseException:
            self.close(0)
            raise
        if first is None:
            self.process.wait()
            errors.join(1)
            raise StartError(self._words().strip() or f"{command[0]} ended with status {self.process.returncode}")
        if first.get("protocol") != PROTOCOL:
            self.close(0)
            raise ProtocolError(
                f"{command[0]} speaks protocol {first.get('protocol')}, this package {PROTOCOL}: install the same version of both"
            )
        self.greeting: Message = first

    def _words(self) -> str:
        return "".join("\n" + line for line in self.said)

    def ask(self, **message: Any) -> Request:
        """Sends a request."""
        with self._lock:
            if self._lost:
                raise SessionLost(self._lost)
            self._last += 1
            request = Request(self._last)
            line = _line({"id": request.id, **message})
            self._open[request.id] = request
        self._write(line)
        return request

    def tell(self, request: Request, **message: Any) -> None:
        """Sends a further message about a request whose last answer has not come."""
        self._write(_line({"id": request.id, **message}))

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        with self._lock:
            try:
                self.process.stdin.write(line)
                self.process.stdin.flush()
            except (OSError, ValueError):
                pass  # the reader reports the end

    def _take(self, message: Message) -> None:
        """Passes an answer to its request."""
        if message["id"] == 0:  # the program could not read a line
            self.said.append(message.get("refused", ""))
            return
        last = not any(k in message for k in ("output", "show", "ask"))
        with self._lock:
            request = self._open.pop(message["id"], None) if last else self._open.get(message["id"])
        if request is not None:
            request.answers.put(message)

    def _ended(self) -> None:
        """Answers all open requests with the end of the session, because no other answer will come."""
        lost = "the session has ended, or the process that holds it" + self._words()
        with self._lock:
            self._lost = self._lost or lost
            waiting, self._open = list(self._open.values()), {}
        for request in waiting:
            request.answers.put({"lost": self._lost})

    @property
    def lost(self) -> bool:
        return self._lost is not None

    def close(self, patience: float = 10) -> None:
        """Ends the process."""
        with self._lock:
            self._lost = self._lost or "the session is closed"
        self._end.detach()
        _end(self.process, patience)


def _line(message: Message) -> bytes:
    line = json.dumps(message).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise ArgumentError(f"the arguments take {len(line)} bytes in a message, of at most {MAX_LINE}: {', '.join(message)}")
    return line


def _end(process: subprocess.Popen[bytes], patience: float = 10) -> None:
    try:
        if process.stdin is not None:
            process.stdin.close()
    except OSError:
        pass
    for harder in (process.terminate, process.kill, None):
        try:
            process.wait(patience or 1)
            return
        except subprocess.TimeoutExpired:
            if harder is not None:
                harder()


def _note(stream: Any, said: Deque[str]) -> None:
    with stream:
        for line in stream:
            said.append(line.decode(errors="replace").rstrip("\n"))


def _read(process: subprocess.Popen[bytes], reference: weakref.ref[Channel], greeting: queue.Queue[Optional[Message]]) -> None:
    assert process.stdout is not None
    greeted = False
    with process.stdout as stream:
        for line in stream:
            try:
                message = json.loads(line)
            except ValueError:
                break
            if not greeted:
                greeting.put(message)
                greeted = True
                continue
            channel = reference()
            if channel is None:
                break
            channel._take(message)
            del channel
    if not greeted:
        greeting.put(None)
    channel = reference()
    if channel is not None:
        channel._ended()


def find_program() -> List[str]:
    """Returns the command of the program. It looks in the variable SYMMREPL, in this package, and then in PATH; see docs/python.md."""
    import importlib
    import shutil

    from .errors import ProgramNotFound

    named = os.environ.get("SYMMREPL")
    if named:
        return [named]
    try:
        found = importlib.import_module("symmrepl._program").find()
        if found:
            return [str(found)]
    except ImportError:  # this package was installed without the program
        pass
    found = shutil.which("symmrepl")
    if found:
        return [found]
    raise ProgramNotFound("the program symmrepl was not found: put it into PATH, or set the variable SYMMREPL to its path")
