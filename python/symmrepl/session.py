"""Sessions that Python code controls."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Type,
    Union,
)

from . import _arguments as arguments
from . import tensors, views
from ._channel import Channel, Message, Request, find_program
from ._inbox import Inbox
from .errors import ArgumentError, CellError, Refused, SessionLost, TransferError, cell_error
from .operations import Operations, Ranks
from .remote import RemoteTensor, alike
from .results import MAX_RANKS, Finding, Hang, Output, RankError, RankInfo, Result, Value, Variable

_MAX_LINE = 1 << 31

_DEVICES = ("cpu", "cuda")
"""The devices on which get returns arrays."""

_LOOK = 0.2
"""Seconds after which a wait lets Python handle signals. A signal that comes just before the wait, or to another thread, does not end it."""


def start(
    n: Optional[int] = None,
    device: Optional[str] = None,
    *,
    backend: Optional[str] = None,
    hosts: Optional[str] = None,
    net: Optional[str] = None,
    deadlock: Optional[str] = None,
    sanitize: bool = False,
    env: Optional[Mapping[str, str]] = None,
    timeout: float = 120,
) -> Session:
    """Starts a session, which ends when it is closed or this process ends.

    n is the number of ranks, by default one for each GPU, or 4 without GPUs; device is ``auto``,
    ``cpu`` or ``cuda``; backend, hosts and net are the flags of the program with these names. deadlock
    is the value of SYMMREPL_DEADLOCK. env has further variables for the session's processes. start
    raises StartError if the session does not start within timeout seconds.
    """
    flags: List[str] = []
    if n is not None:
        flags.append(f"--ranks={arguments.integer('n', n, 1, MAX_RANKS)}")
    for name, value in (("device", device), ("backend", backend), ("hosts", hosts), ("net", net)):
        if value is not None:
            flags.append(f"--{name}={arguments.word(name, value)}")
    variables = arguments.environment("env", env)
    if deadlock is not None:
        variables["SYMMREPL_DEADLOCK"] = arguments.word("deadlock", deadlock)
    watch = arguments.flag("sanitize", sanitize)
    session = Session(Channel([*find_program(), "serve", *flags], variables, arguments.seconds("timeout", timeout)))
    if watch:
        try:
            session.run(":sanitize on")
        except BaseException:
            session.close()
            raise
    return session


def attach(directory: Union[str, "os.PathLike[str]", None] = None, *, timeout: float = 60) -> Session:
    """Attaches to a running session of this user on this host. Closing the returned object does not end that session.

    directory is the directory of the session. It may be left out if exactly one session runs.
    """
    flag = "--attach" if directory is None else f"--attach={arguments.path('directory', directory)}"
    return Session(Channel([*find_program(), "serve", flag], None, arguments.seconds("timeout", timeout)))


class Session(Operations):
    """A session of N ranks. Its methods may be called from several threads; cells run one at a time.

    A session is also a context manager, which closes the session.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel
        greeting = channel.greeting
        self.size: int = greeting["size"]
        """The number of ranks."""
        self.device: str = greeting["ranks"][0]["device"]
        """The device of rank 0, such as ``cpu``."""
        self.directory: Optional[str] = greeting.get("attached")
        """The directory of the running session to which this object is attached; None if this object has started the session."""
        self.version: str = greeting["symmrepl"]
        """The version of the program."""
        self._folder: str = greeting["folder"]
        self._running: List[Request] = []
        self._hang: Optional[Hang] = None

    # Cells

    def run(
        self,
        source: str,
        ranks: Ranks = None,
        *,
        check: bool = True,
        timeout: Optional[float] = None,
        name: str = "",
        line: int = 1,
        silent: bool = False,
        on_output: Optional[Callable[[Output], None]] = None,
        stdin: Union[Callable[[], Optional[str]], Iterable[str], None] = None,
    ) -> Result:
        """Runs an entry on ranks: a cell of Go, or a command as at the prompt, such as ``:caps``.

        If a cell fails, run raises the CellError for the kind of the error; if check is False, it returns
        the errors in the result. run interrupts the cell after timeout seconds. Positions in messages
        begin with name, and count lines from line on. A silent entry is not in the history. run calls
        on_output with each output at once, on this thread. stdin has the lines that the cell reads: it
        is an iterable, or a function that returns a line, or None at the end.

        KeyboardInterrupt interrupts the cell on all ranks. run raises it again when the ranks have
        stopped, and the session goes on. A second KeyboardInterrupt, three seconds later or more,
        replaces the processes of ranks that have not stopped.
        """
        return self._run(source, ranks, check=check, timeout=timeout, name=name, line=line, silent=silent, on_output=on_output, stdin=stdin)

    def _run(
        self,
        source: str,
        ranks: Ranks = None,
        *,
        check: bool = True,
        timeout: Optional[float] = None,
        name: str = "",
        line: int = 1,
        silent: bool = False,
        on_output: Optional[Callable[[Output], None]] = None,
        stdin: Union[Callable[[], Optional[str]], Iterable[str], None] = None,
        show: str = "",
        on_show: Optional[Callable[[str, Message], None]] = None,
        stop: str = "",
    ) -> Result:
        result = Result(self.size)
        ask = _reader(stdin)
        check = arguments.flag("check", check)
        limit = None if timeout is None else arguments.seconds("timeout", timeout)
        arguments.function("on_output", on_output)
        request = self._channel.ask(
            run={
                "source": arguments.text("source", source),
                "ranks": self._ranks(ranks),
                "name": arguments.text("name", name),
                "line": arguments.integer("line", line, 1, _MAX_LINE),
                "silent": arguments.flag("silent", silent),
                "input": stdin is not None,
                "show": show,
                "stop": stop,
            }
        )

        def event(m: Message) -> None:
            if "output" in m:
                output = Output.read(m["output"])
                if output.topic:
                    result.outputs[:] = [o for o in result.outputs if o.topic != output.topic]
                result.outputs.append(output)
                if output.hang:
                    self._hang = output.hang
                if on_output is not None:
                    on_output(output)
            elif "show" in m and on_show is not None:
                on_show(m["show"]["kind"], m["show"]["content"])
            elif m.get("ask"):
                text = ask()
                self._channel.tell(request, line={"text": "" if text is None else text.rstrip("\n"), "end": text is None})

        interrupted: Optional[KeyboardInterrupt] = None
        self._running.append(request)
        try:
            last, interrupted = self._wait(request, event, limit)
        finally:
            self._running.remove(request)
            self._hang = None
        reply = last.get("reply")
        if reply is None:
            raise Refused(last["refused"])
        result.cell, result.elapsed = reply["cell"], reply["elapsed"]
        result.values = [Value.read(v) for v in reply.get("values") or []]
        result.errors = [RankError.read(e) for e in reply.get("errors") or []]
        result.findings = [Finding.read(f) for f in reply.get("findings") or []]
        failure: Optional[Exception] = None
        if result.errors:
            failure = cell_error(result.errors, result, (reply.get("failure") or {}).get("traceback"))
        elif reply.get("refused"):
            failure = Refused(reply["refused"])
        if interrupted is not None:
            raise interrupted from failure
        if failure is not None and (check or not result.errors):
            raise failure
        return result

    def _wait(
        self, request: Request, event: Callable[[Message], None], timeout: Optional[float] = None
    ) -> tuple[Message, Optional[KeyboardInterrupt]]:
        """Waits for the last answer to a request.

        If event raises an exception, _wait interrupts the request and raises the exception when the
        request has ended.
        """
        end = None if timeout is None else time.monotonic() + timeout
        interrupted: Optional[KeyboardInterrupt] = None
        raised: Optional[BaseException] = None
        while True:
            try:
                try:
                    m = request.answers.get(timeout=_LOOK if end is None else min(_LOOK, max(0.0, end - time.monotonic())))
                except queue.Empty:
                    if end is not None and time.monotonic() >= end:
                        end = None
                        self._channel.tell(request, cancel=True)
                    continue
                if "lost" in m:
                    raise SessionLost(m["lost"])
                if not any(k in m for k in ("output", "show", "ask")):
                    break
                if raised is None:
                    event(m)
            except KeyboardInterrupt as e:
                interrupted = e
                self._channel.tell(request, cancel=True)
            except SessionLost:
                raise
            except BaseException as e:
                raised = e
                self._channel.tell(request, cancel=True)
        if raised is not None:
            raise raised
        return m, interrupted

    def interrupt(self) -> None:
        """Interrupts the current request on all ranks, for instance from another thread. The request raises Interrupted."""
        for request in list(self._running):
            self._channel.tell(request, cancel=True)

    @property
    def hang(self) -> Optional[Hang]:
        """The last report of waits that cannot end in the running cell; None if there is none."""
        return self._hang

    # Tensors and values

    def get(self, expr: str, rank: Optional[int] = None, *, to: Optional[str] = None, device: Optional[str] = None) -> Any:
        """Returns the value of an expression of Go on one rank, or the values of all ranks in one array whose first dimension is the rank.

        A tensor or a slice of numbers becomes an array in memory of this process. By default it is an
        array of numpy, or a symmrepl.Tensor if numpy is not installed. With ``to="torch"`` it is a
        tensor of PyTorch, with ``to="tensor"`` a symmrepl.Tensor, which needs no library. In arrays of
        numpy, bf16 and 8-bit floats have types of ml_dtypes; without ml_dtypes they are unsigned
        integers with the same bits.

        Any other value is what package json decodes from the text that Go's encoding/json writes, with
        NaN, infinities and complex numbers; of all ranks, get returns a list of these values.

        With ``device="cuda"`` get copies nothing: it returns a view of a symmetric tensor in the memory of the
        rank's GPU, with ``to="torch"`` a tensor of PyTorch on that GPU, with ``to="tensor"`` a symmrepl.View,
        which has ``__cuda_array_interface__``; of all ranks, a list of views. get waits for the work of the
        rank so far. What the rank writes later is in the view after ``run("symm.Synchronize()")``, and what
        this process writes is there for cells after ``torch.cuda.synchronize()``. The memory lives as long as
        the view or the rank's tensor. The default, ``device="cpu"``, gives copies as above.
        """
        if rank is not None:
            one = arguments.rank("rank", rank, self.size)
            return self._get(expr, [one], to, device)[one]
        if arguments.one_of("device", device, _DEVICES) == "cuda":
            return list(self._views(expr, None, to).values())
        to = arguments.one_of("to", to, tensors.FORMS)
        found = self._fetch(expr, None)
        if any(isinstance(v, tensors.Tensor) for v in found.values()):
            if not all(isinstance(v, tensors.Tensor) for v in found.values()):
                raise TransferError(f"{expr} is a tensor on some ranks only: use get_by_rank")
            return tensors.convert(tensors.stack([found[r] for r in sorted(found)]), to)
        return [found[r] for r in sorted(found)]

    def get_by_rank(self, expr: str, ranks: Ranks = None, *, to: Optional[str] = None, device: Optional[str] = None) -> Dict[int, Any]:
        """Returns the value of an expression by rank, each as get returns it for one rank. Types and shapes may differ."""
        return self._get(expr, self._ranks(ranks), to, device)

    def _get(self, expr: str, ranks: Optional[List[int]], to: Optional[str], device: Optional[str]) -> Dict[int, Any]:
        if arguments.one_of("device", device, _DEVICES) == "cuda":
            return self._views(expr, ranks, to)
        to = arguments.one_of("to", to, tensors.FORMS)
        return {r: tensors.convert(v, to) if isinstance(v, tensors.Tensor) else v for r, v in self._fetch(expr, ranks).items()}

    def _views(self, expr: str, ranks: Optional[List[int]], to: Optional[str]) -> Dict[int, Any]:
        if arguments.one_of("to", to, tensors.FORMS) not in views.FORMS:
            raise ArgumentError(f"to is {to!r}: with device='cuda' it may be {', '.join(views.FORMS)}")
        if not self.device.startswith("cuda"):
            raise ArgumentError(f"device is 'cuda', but the ranks are on the device {self.device}: with device='cpu', get returns a copy")
        if to == "torch":
            views.cuda_torch()  # before a rank sends its memory
        expr = arguments.text("expr", expr)
        found: Dict[int, views.View] = {}
        with Inbox(self._folder, self.size) as inbox:
            sent = {one["rank"] for one in self._request(get={"expr": expr, "ranks": ranks, "socket": inbox.path})["got"]}
            for _ in sent:
                memory = inbox.receive()
                with contextlib.closing(memory):
                    found[memory.rank] = views.view(memory)
        if set(found) != sent:
            raise TransferError(f"memory has come of the ranks {sorted(found)}, not {sorted(sent)}: call get again")
        return {r: found[r].torch() if to == "torch" else found[r] for r in sorted(found)}

    def _fetch(self, expr: str, ranks: Optional[List[int]]) -> Dict[int, Any]:
        m = self._request(get={"expr": arguments.text("expr", expr), "ranks": ranks})
        files = [one["file"] for one in m["got"] if one.get("file")]
        try:
            return {one["rank"]: tensors.read(one["file"]) if one.get("file") else tensors.value(one["value"]) for one in m["got"]}
        finally:
            tensors.remove(files)

    def put(
        self,
        name: str,
        value: Any,
        ranks: Ranks = None,
        *,
        by_rank: bool = False,
        symmetric: bool = True,
        dtype: Optional[str] = None,
    ) -> None:
        """Makes an array the value of a variable of the session.

        value is an array of numpy or PyTorch, a symmrepl.Tensor, or any object with ``__array__``,
        ``__dlpack__`` or the buffer protocol. All ranks get the same array, unless value is a mapping
        from ranks to arrays, or by_rank is set: then the first dimension of value is the rank. With
        ranks, only these ranks get an array.

        If the variable already holds a tensor of the same type and shape, put copies the array into
        that tensor, and handles of the tensor stay valid. Otherwise the variable becomes a new tensor,
        which is symmetric unless symmetric is False or ranks leaves out some ranks. name may also be
        an expression for a tensor, such as ``t.Slice(0, 4)``. dtype is the type of the elements if
        the array has them as integers with the same bits: ``put("x", a, dtype="bf16")``.

        An int, a float, a bool or a str becomes a variable of the corresponding type of Go.
        """
        name, chosen = arguments.text("name", name), self._ranks(ranks)
        by_rank, symmetric = arguments.flag("by_rank", by_rank), arguments.flag("symmetric", symmetric)
        if dtype is not None:
            dtype = arguments.one_of("dtype", dtype, tuple(t.name for t in tensors.DTYPES))
        if isinstance(value, (bool, int, float, str)):
            self._request(put={"name": name, "text": arguments.go_literal("value", value), "ranks": chosen})
            return
        given: Dict[Optional[int], Any]
        if isinstance(value, Mapping):
            given = dict(value)
            if chosen is None and set(given) != set(range(self.size)):
                chosen = arguments.ranks("value", [r for r in given if isinstance(r, int)] or None, self.size)
            if set(given) != set(range(self.size) if chosen is None else chosen):
                raise ArgumentError(
                    f"value has arrays for ranks {sorted(map(str, given))}: give one array for each rank, by the number of the rank"
                )
            given = {int(r): v for r, v in given.items() if r is not None}
        elif by_rank:
            whole = list(range(self.size)) if chosen is None else chosen
            if not hasattr(value, "__len__") or not hasattr(value, "__getitem__"):
                raise TypeError(f"value is of type {arguments.kind(value)}: with by_rank it has one array for each rank")
            if len(value) != len(whole):
                raise ArgumentError(f"value has the first dimension {len(value)}, but there are {len(whole)} ranks")
            given = {r: value[i] for i, r in enumerate(whole)}
        else:
            given = {None: value}
        taken = {r: _taken(v, dtype) for r, v in given.items()}
        first = next(iter(taken.values()))
        ordinary = not symmetric or chosen is not None and len(chosen) < self.size
        for r, t in taken.items():
            if (t.dtype, t.shape) != (first.dtype, first.shape):
                raise ArgumentError(
                    f"value: the arrays of the ranks differ, {first!r} and {t!r} of rank {r}: put them one at a time, with ranks and symmetric=False"
                )
        path, files = tensors.write(self._folder, taken)
        try:
            self._request(
                put={
                    "name": name,
                    "file": path,
                    "dtype": "Bool" if first.dtype == "bool" else first.dtype.upper(),
                    "shape": list(first.shape),
                    "ordinary": ordinary,
                    "ranks": chosen,
                }
            )
        finally:
            tensors.remove(files)

    def __getitem__(self, name: str) -> Any:
        """Returns the tensor of a variable, or of an expression of Go, as a RemoteTensor.

        Of any other value it returns the value as rank_values does, or if the ranks have different values, a
        dict from ranks to values.
        """
        found = self._type_of("name", arguments.text("name", name), None)
        if found == "*symm.Tensor":
            return RemoteTensor(self, name if name.isidentifier() else f"({name})")
        return alike(self.rank_values(name))

    def __setitem__(self, name: str, value: Any) -> None:
        """Makes a value, an array or a RemoteTensor the value of a variable on all ranks, as put does."""
        if isinstance(value, RemoteTensor):
            if not arguments.text("name", name).isidentifier():
                raise ArgumentError(f"name: {name} is not the name of a variable")
            self._request(put={"name": name, "text": self._operand("value", value), "ranks": None})
            return
        self.put(name, value)

    def __contains__(self, name: object) -> bool:
        return any(v.name == name for v in self.variables())

    __iter__ = None

    def _type_of(self, argument: str, expr: str, ranks: Optional[List[int]]) -> str:
        """Returns the type of an expression, which is the same on all ranks."""
        types: Dict[int, str] = {}
        for answer in self._request(inspect={"topic": "type", "arg": expr, "ranks": ranks})["answers"]:
            if answer.get("error"):
                raise ArgumentError(f"{argument}: {answer['error']['msg']} on rank {answer['rank']}")
            types[answer["rank"]] = answer.get("text", "").partition(" constant ")[0]
        found = alike(types)
        if not isinstance(found, str):
            raise ArgumentError(f"{argument}: {expr} has different types on the ranks: {found}")
        return found

    # Ranks

    def ranks(self) -> List[RankInfo]:
        """Returns the processes of the ranks and their states. It may be called while a cell runs."""
        return [RankInfo(**r) for r in self._request(ranks=True)["ranks"]]

    def restart(self, ranks: Ranks = None, *, replay: bool = False) -> None:
        """Replaces the processes of ranks by new ones, which have no variables. With replay, the new processes then run the history."""
        self._request(restart={"replay": arguments.flag("replay", replay), "ranks": self._ranks(ranks)})

    def variables(self, rank: int = 0) -> List[Variable]:
        """Returns the variables of a rank in the order of their definition. It may be called while a cell runs."""
        (answer,) = self._request(inspect={"topic": "vars", "arg": "", "ranks": [arguments.rank("rank", rank, self.size)]})["answers"]
        if answer.get("error"):
            raise cell_error([RankError.read(answer["error"])])
        return [Variable(v["Name"], v["Type"], v["Size"], v["Value"]) for v in answer.get("variables") or []]

    # The sanitizer

    def sanitize(self, on: bool = True) -> None:
        """Switches the sanitizer on or off. It checks the memory accesses of kernels; its findings are in the results."""
        self.run(":sanitize on" if arguments.flag("on", on) else ":sanitize off")

    def findings(self) -> List[Finding]:
        """Returns the findings of the sanitizer in all cells that this object has run, each finding once."""
        return [Finding.read(f) for f in self._request(findings=True)["findings"]]

    # The end

    @property
    def closed(self) -> bool:
        """Whether the session is closed or has ended."""
        return self._channel.lost

    @property
    def notices(self) -> List[str]:
        """The messages of the program about the session, for example that a host was lost."""
        return list(self._channel.said)

    def close(self) -> None:
        """Ends the session. A session to which this object is attached goes on."""
        self._channel.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<symmrepl.Session of {self.size} rank{'s' if self.size > 1 else ''}, {self.device}{state}>"

    def _ranks(self, ranks: Ranks) -> Optional[List[int]]:
        return arguments.ranks("ranks", ranks, self.size)

    def _request(self, **message: Any) -> Message:
        """Sends a request other than an entry, and returns the last answer."""
        request = self._channel.ask(**message)
        self._running.append(request)
        try:
            last, interrupted = self._wait(request, lambda m: None)
        finally:
            self._running.remove(request)
        failure: Union[CellError, Refused, TransferError, None] = None
        if last.get("reply"):
            failure = cell_error([RankError.read(e) for e in last["reply"]["errors"]])
        elif last.get("argument"):
            failure = ArgumentError(f"{last['argument']}: {last['refused']}")
        elif last.get("refused"):
            failure = (TransferError if "get" in message or "put" in message else Refused)(last["refused"])
        if interrupted is not None:
            raise interrupted from failure
        if failure is not None:
            raise failure
        return last


def _taken(value: Any, dtype: Optional[str]) -> tensors.Tensor:
    """Returns a tensor on the memory of an array that is given to put."""
    try:
        return tensors.take(value, dtype)
    except TransferError as e:
        raise ArgumentError(f"value: {e}") from e
    except (TypeError, ValueError, BufferError, RuntimeError, MemoryError, OverflowError) as e:
        raise ArgumentError(f"value cannot be converted to a tensor: {e}") from e


def _reader(stdin: Union[Callable[[], Optional[str]], Iterable[str], None]) -> Callable[[], Optional[str]]:
    """Returns a function that returns the next line, or None at the end."""
    if stdin is None:
        return lambda: None
    if isinstance(stdin, (str, bytes)) or not callable(stdin) and not hasattr(stdin, "__iter__"):
        raise TypeError(f"stdin is of type {arguments.kind(stdin)}: an iterable of lines, or a function that returns a line, is expected")
    following: Callable[[], Any]
    if callable(stdin):
        following = stdin
    else:
        lines = iter(stdin)

        def following() -> Any:
            return next(lines, None)

    def line() -> Optional[str]:
        found = following()
        return None if found is None else arguments.text("a line of stdin", found)

    return line


__all__ = ["Session", "attach", "start"]
