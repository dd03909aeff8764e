"""The process beside this one that compiles kernels: `symmrepl companion`, which its Go package describes."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import threading
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from .._channel import find_program
from . import versions
from .errors import CompileError, Diagnostic, Unavailable

Message = Dict[str, Any]

MAX_LINE = 16 << 20
"""The longest request in bytes."""


class Parameter(NamedTuple):
    """A parameter of a kernel, as the text declares it."""

    name: str
    type: str


class Library(NamedTuple):
    """A shared object of kernels: its path, and the parameters by the kernels' names, in the order of the text."""

    path: str
    kernels: Dict[str, List[Parameter]]


class Companion:
    """A companion of this process. It ends when this process ends, even if this process is killed.

    Every method may be called by several threads. Errors: Unavailable if the companion cannot be started, is of another version
    than this package, or has ended, or if there is no compiler.
    """

    def __init__(self, command: Optional[Sequence[str]] = None) -> None:
        command = [*(find_program() if command is None else command), "companion"]
        try:
            # Ctrl-C at a terminal reaches only this process.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        except OSError as e:
            raise Unavailable(f"{command[0]} cannot be started, which compiles kernels: {e}") from e
        self._writing = threading.Lock()  # one request at a time; answers are read meanwhile
        self._lock = threading.Lock()  # guards the fields below
        self._open: Dict[int, queue.Queue[Optional[Message]]] = {}
        self._last = 0
        self._ended = False
        self._program = command[0]
        self._greeted = False
        self._refused: Optional[Unavailable] = None  # why this program serves no request
        weakref.finalize(self, _end, self._process, os.getpid())
        reader = (self._process.stdout, weakref.ref(self))
        threading.Thread(target=_read, args=reader, name="symmrepl-companion", daemon=True).start()

    def emulator(self) -> str:
        """Returns the path of the emulated device's shared object."""
        return str(self._ask(emulator=True)["library"])

    def operation(self, name: str, watched: bool = False) -> str:
        """Returns the path of the shared object of one of this project's kernels, such as ``pull_reduce_f32``."""
        return str(self._ask(operation=name, watched=watched)["library"])

    def kernels(
        self, text: str, name: str = "kernel.cu", line: int = 1, instances: Sequence[str] = (), watched: bool = False
    ) -> Library:
        """Compiles a text of CUDA C++. name and line say where it stands, for messages. Errors: CompileError."""
        _check(text, name, line)
        request = {"name": name, "line": line, "text": text, "instances": list(instances)}
        answer = self._ask(kernels=request, watched=watched)
        found = {k["name"]: [Parameter(p["name"], p["type"]) for p in k["params"]] for k in answer.get("kernels", [])}
        return Library(answer["library"], found)

    def layouts(self) -> Dict[str, Message]:
        """Returns the structs that this project's kernels take, by name, each with its size and its fields' offsets and sizes."""
        return dict(self._ask(layouts=True)["layouts"])

    def shadow(self) -> str:
        """Returns the name of a shadow for the sanitizer: see `sanitize`. It lasts as long as the companion."""
        return str(self._ask(shadow=True)["shadow"])

    def findings(self, reports: Sequence[Message]) -> List[Message]:
        """Returns the findings in the reports of all ranks' sanitizers in words, each once."""
        return list(self._ask(findings=list(reports))["findings"])

    def watch(self, name: str, ranks: int, deadlock: str) -> str:
        """Returns the socket at which a companion waits for the ranks of a program, to watch them."""
        return str(self._ask(watch={"name": name, "ranks": ranks, "deadlock": deadlock})["socket"])

    def _ask(self, **request: Any) -> Message:
        answers: queue.Queue[Optional[Message]] = queue.Queue()
        with self._lock:
            self._last += 1
            line = json.dumps({"id": self._last, **request}).encode() + b"\n"
            if len(line) > MAX_LINE:
                raise CompileError(f"the request to compile has {len(line)} bytes, of at most {MAX_LINE}", [])
            if self._ended:
                answers.put(None)
            else:
                self._open[self._last] = answers
        assert self._process.stdin is not None
        with self._writing, contextlib.suppress(OSError, ValueError):  # the reader reports the end
            self._process.stdin.write(line)
            self._process.stdin.flush()
        answer = answers.get()
        if answer is not None and not {"library", "layouts", "shadow", "findings", "socket", "error"} & answer.keys():
            answer = None  # another program than the companion
        if answer is None and self._refused is not None:
            raise Unavailable(str(self._refused))
        if answer is None:
            raise Unavailable(f"the process that compiles kernels has ended (status {self._process.poll()}): start the program again")
        if "diagnostics" in answer:
            raise CompileError(answer["error"], [Diagnostic(**d) for d in answer["diagnostics"]])
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer

    def _greet(self, greeting: Message) -> None:
        """Takes the first message. Errors: Unavailable if the program is of another version."""
        self._greeted = True
        try:
            versions.check(f"{self._program}, which compiles kernels,", greeting.get("version"))
        except Unavailable as e:
            self._refused = e
            raise

    def _take(self, answer: Optional[Message]) -> None:
        """Passes an answer on; None is the end of the process, for all open requests."""
        with self._lock:
            if answer is None:
                self._ended = True
                waiting, self._open = list(self._open.values()), {}
            else:
                found = self._open.pop(answer["id"], None)
                waiting = [found] if found is not None else []
        for answers in waiting:
            answers.put(answer)


_UNSUITED = re.compile("[\0\ud800-\udfff]")


def _check(text: str, name: str, line: int) -> None:
    """Refuses what compilers leave out, or end at, without a word. Errors: CompileError."""
    found = _UNSUITED.search(text)
    if found is None:
        return
    begin, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.start())
    line, column = line + text.count("\n", 0, begin), found.start() - begin + 1
    what = f"the text has a {'NUL' if found[0] == chr(0) else 'surrogate, which is no character'} here"
    source = text[begin : len(text) if end < 0 else end]
    raise CompileError(f"{name}:{line}:{column}: {what}", [Diagnostic(name, line, column, what, source)])


def _read(stream: Any, reference: weakref.ref[Companion]) -> None:
    with stream:
        for line in stream:
            companion = reference()
            if companion is None:
                return
            try:
                message = json.loads(line)
                if companion._greeted:
                    companion._take(message)
                else:
                    companion._greet(message)
            except (ValueError, TypeError, KeyError, AttributeError, Unavailable):
                break  # no companion's message
            del companion
    companion = reference()
    if companion is not None:
        companion._take(None)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return  # a child that was forked
    try:
        assert process.stdin is not None
        process.stdin.close()
    except OSError:
        pass
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
