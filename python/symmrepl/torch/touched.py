"""Tells the sanitizer what ATen's operators read and write in symmetric memory, and where the ranks meet on the host."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import torch
import torch.distributed as dist

from ..emulator import memory, sanitize
from . import placing
from .groups import device
from .mode import DispatchMode

_NO_CONTENTS = ("_like", "set_", "resize_", "resize_as_", "resize")
"""The ends of names of operators that take a tensor, and do not access its elements."""

_FROM_OTHERS = ("allreduce_", "allreduce_coalesced_", "reduce_", "recv_", "recv_any_source_")
"""Collectives of c10d that write all their tensors, once others have come. Those of the others' schemas name outputs."""

_MOST_CALLS = 256
"""Of the rows of a tensor with more than two strides, so many groups are told."""

_FUNCTIONAL = ("auto_functionalized", "auto_functionalized_v2")
"""The operators by which torch.compile calls an operator that writes its arguments."""

_PLAIN = (torch.Tensor, torch.nn.Parameter)
"""The types of tensors that have memory of their own."""


class _Access(NamedTuple):
    """What an operator does with an argument: its position, its name, and whether it writes it."""

    at: int
    name: str
    write: bool


class _Operator(NamedTuple):
    """An operator, the library that it is in, and the arguments whose elements it accesses."""

    function: Any
    library: str
    accesses: List[_Access]


class Rows(NamedTuple):
    """rows of bytes whose beginnings are pitch bytes apart."""

    address: int
    bytes: int
    rows: int
    pitch: int


def rows_of(address: int, element: int, shape: Sequence[int], stride: Sequence[int]) -> Iterator[Rows]:
    """Yields what a tensor covers, each byte once. stride is in elements."""
    if 0 in shape:
        return
    dims = sorted((s, n) for n, s in zip(shape, stride) if n > 1 and s > 0)
    size = element
    while dims and dims[0][0] * element == size:
        size *= dims.pop(0)[1]
    pitch, rows = 0, 1
    if dims:
        pitch, rows = dims[0][0] * element, dims.pop(0)[1]
        while dims and dims[0][0] * element == pitch * rows:
            rows *= dims.pop(0)[1]
    index = [0] * len(dims)
    while True:
        yield Rows(address + sum(i * s for i, (s, _) in zip(index, dims)) * element, size, rows, pitch)
        for k, (_, n) in enumerate(dims):
            index[k] += 1
            if index[k] < n:
                break
            index[k] = 0
        else:
            return


class _Pending(NamedTuple):
    """A collective that was not over when it was looked at last, with what it writes."""

    work: Any
    writes: List[torch.Tensor]


class Mode(DispatchMode):
    """Sees the operators of one thread."""

    supports_higher_order_operators = True

    def __init__(self, sanitizer: sanitize.Sanitizer) -> None:
        super().__init__()
        self._sanitizer = sanitizer
        self._known: Dict[int, _Operator] = {}  # by identity: an operator's own hash takes long
        self._pending: List[_Pending] = []
        sanitizer.before = self._settle

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True  # torch.compile compiles, and this mode sees the operators of its graphs when they run: see placing

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, torch._ops.HigherOrderOperator):
            return self._composed(func, args, kwargs)
        if not placing.running():
            return self._call(func, args, kwargs)
        with self:
            placed = placing.place(func, args, kwargs)
        out = self._call(func, placed.args, placed.kwargs)
        with self:
            return placed.returned(out)

    def _call(self, func: Any, args: Any, kwargs: Any) -> Any:
        known = self._known.get(id(func))
        if known is None:
            known = self._known[id(func)] = _Operator(func, func.namespace, _accesses(func))
        if known.library == "symm_mem":
            return self._ours(func, args, kwargs)
        found: List[Tuple[torch.Tensor, bool]] = []
        for at, name, write in known.accesses:
            value = args[at] if at < len(args) else kwargs.get(name)
            if isinstance(value, torch.Tensor):
                if _shared(value):
                    found.append((value, write))
            elif isinstance(value, (list, tuple)):
                found += [(t, write) for t in value if isinstance(t, torch.Tensor) and _shared(t)]
        if known.library in ("c10d", "_c10d_functional"):
            return self._collective(func, args, kwargs, found)
        if found:
            self._touch(found)
        return func(*args, **kwargs)

    def _composed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operator of operators, such as torch.cond, and sees those within it."""
        if func.name() in _FUNCTIONAL:
            with self:
                return func.py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd](*args, **kwargs)

        def seen(f: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return f(*args, **kwargs)

            return run

        return func(*(seen(a) if isinstance(a, (FunctionType, torch.nn.Module)) else a for a in args), **kwargs)

    def _ours(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operator of symmetric memory, whose kernels are watched. What it does by ATen is seen here, too."""
        if not any(isinstance(a, torch.Tensor) and a.device.type == "cpu" for a in args):
            return func(*args, **kwargs)
        with self:
            return func.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args, **kwargs)

    def _collective(self, func: Any, args: Any, kwargs: Any, found: List[Tuple[torch.Tensor, bool]]) -> Any:
        self._touch([(t, False) for t, write in found if not write])
        self._sanitizer.publish()
        out = func(*args, **kwargs)
        work = out[-1] if isinstance(out, (tuple, list)) and out else out
        if isinstance(work, torch.ScriptObject):
            self._pending.append(_Pending(dist.Work.unbox(work), [t for t, write in found if write]))
            self._settle()
        elif func._opname == "wait_tensor":
            self._sanitizer.observe()
        return out

    def _settle(self) -> None:
        """Notes the collectives that are over: this rank has heard of the others."""
        if not self._pending:
            return
        over = [p for p in self._pending if p.work.is_completed()]
        self._pending = [p for p in self._pending if p not in over]
        if over:
            self._sanitizer.observe()
        for p in over:
            self._touch([(t, True) for t in p.writes])

    def _touch(self, found: List[Tuple[torch.Tensor, bool]]) -> None:
        if not found:
            return
        self._sanitizer.calling()
        for t, write in found:
            for i, r in enumerate(rows_of(t.data_ptr(), t.element_size(), t.shape, t.stride())):
                if i == _MOST_CALLS:
                    break
                self._sanitizer.touched(r.address, r.bytes, write, r.rows, r.pitch)
        self._sanitizer.collect()

    def read(self, tensor: torch.Tensor) -> None:
        """Notes that the program reads a tensor without an operator."""
        if _shared(tensor):
            self._touch([(tensor, False)])


def _accesses(func: Any) -> List[_Access]:
    """Returns the arguments whose elements an operator accesses, by its schema."""
    name = func._opname
    if func.namespace == "aten" and (name.endswith(_NO_CONTENTS) or name.startswith("new_")):
        return []
    found = []
    for i, a in enumerate(func._schema.arguments):
        if "Tensor" not in str(a.type):
            continue
        if func.namespace == "c10d":
            write = a.name.startswith("output") or name in _FROM_OTHERS
        elif a.alias_info is None:
            write = False
        elif a.alias_info.is_write:
            write = True
        else:
            continue  # a view of it
        found.append(_Access(i, a.name, write))
    return found


def _shared(t: torch.Tensor) -> bool:
    return type(t) in _PLAIN and t.is_cpu and t.layout is torch.strided and memory.within(t.data_ptr())


def _wrap(kind: Any, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    original = getattr(kind, name, None)
    if original is not None:
        function = wrapper(original)
        function.__name__, function.__doc__ = name, original.__doc__
        setattr(kind, name, function)


def install() -> None:
    """Begins to tell the sanitizer, in this thread; in other threads only kernels and meetings are seen."""
    sanitizer = device().sanitizer
    assert sanitizer is not None
    mode = Mode(sanitizer)

    def reading(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            mode.read(self)
            return original(self, *args, **kwargs)

        return function

    def unseen(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if _shared(self):
                sanitizer.unseen(f"Tensor.{original.__name__}")
            return original(self, *args, **kwargs)

        return function

    def waiting(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            out = original(*args, **kwargs)
            mode._settle()  # at once: what others do after they have met is not heard of
            return out

        return function

    def meeting(tells: bool, hears: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
            def function(*args: Any, **kwargs: Any) -> Any:
                if tells:
                    sanitizer.publish()
                out = original(*args, **kwargs)
                if hears:
                    sanitizer.observe()
                return out

            return function

        return wrapper

    _wrap(torch.Tensor, "tolist", reading)
    for name in ("numpy", "__dlpack__"):
        _wrap(torch.Tensor, name, unseen)
    for kind in _kinds(dist.Work):
        if "wait" in kind.__dict__:
            _wrap(kind, "wait", waiting)
    for name, tells, hears in (
        ("set", True, False), ("multi_set", True, False), ("append", True, False), ("queue_push", True, False), ("delete_key", True, False),
        ("add", True, True), ("compare_set", True, True), ("get", False, True), ("multi_get", False, True), ("wait", False, True),
        ("check", False, True), ("queue_pop", False, True), ("num_keys", False, True),
    ):  # fmt: skip
        for kind in _kinds(dist.Store):
            if name in kind.__dict__:
                _wrap(kind, name, meeting(tells, hears))
    mode.__enter__()
    placing.install()


def _kinds(kind: Any) -> Iterator[Any]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
