"""A program that stands, and the sessions that attach to it: `breakpoint`, and tensors by their names.

`symmrepl attach` asks through the program that watches (module `watch`) for the memory of a tensor that has a name
where the main thread of this process stands, or the thread that has come to a breakpoint. It maps the memory
itself: nothing is copied. The Go package cmd/symmrepl/internal/lending has the messages.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import lines, watch
from .errors import Unavailable

_MOST = 200
"""The tensors that a list has at most."""

_PARTS = {"Expression", "Name", "Attribute", "Subscript", "Index", "Slice", "Tuple", "Constant", "UnaryOp", "USub", "Load"}
"""What a name may consist of, of Python's syntax: nothing that calls functions."""

_one = threading.Lock()  # a breakpoint of this process at a time
_go = threading.Event()
_passed = 0
_stands: Optional[int] = None  # the thread that has come to a breakpoint

lend: Callable[[Any], Dict[str, Any]] = lambda value: {}
"""Returns where a tensor lies: the fields of lending.Tensor but pid. Errors: Unavailable if it cannot be mapped."""

describe: Callable[[Any], Optional[Dict[str, Any]]] = lambda value: None
"""Returns the fields of lending.Variable but the name; None of a value that is no tensor."""


def breakpoint() -> None:
    """Stands until `:continue` of `symmrepl attach`. It is collective: all ranks of the program call it.

    Errors: Unavailable if nobody watches the program: see `symmrepl torchrun` and `symmrepl.torch.watch`; and in a child that was forked.
    """
    global _passed, _stands
    if not watch.watched():
        what = "symmrepl.torch.breakpoint() stands until symmrepl attach lets it go on"
        raise Unavailable(f"{what}: start the program by symmrepl torchrun, or let all ranks call symmrepl.torch.watch(), and call it in the process of a rank itself")
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    with _one:
        _go.clear()
        number = _passed + 1
        others = [r for r in range(world) if r != rank]
        name = f"breakpoint {number}"
        with watch.Call("breakpoint", group="world", members=range(world), ordinal=number, name=name, awaited=others, what="the same call"):
            _stands = threading.get_ident()
            try:
                watch.send({"breakpoint": number, "at": lines.described(lines.program_frame(sys._getframe(1)))})
                _go.wait()
            finally:
                _stands = None
        _passed = number


def _continue(_: Dict[str, Any]) -> Dict[str, Any]:
    _go.set()
    return {}


def _tensor(request: Dict[str, Any]) -> Dict[str, Any]:
    text = str(request.get("name", ""))
    try:
        return {"tensor": {"pid": os.getpid(), **lend(_value(text))}}
    except Unavailable as e:
        raise Unavailable(f"{text} {e}") from None


def _variables(_: Dict[str, Any]) -> Dict[str, Any]:
    found: List[Dict[str, Any]] = []
    seen = set()
    for names in _scopes():
        for name, value in list(names.items()):
            if name in seen or name.startswith("__") or len(found) == _MOST:
                continue
            seen.add(name)
            try:
                words = describe(value)
            except Exception as e:  # of the program's own objects
                words = {"type": type(value).__name__, "value": f"cannot be told: {e}"}
            if words is not None:
                found.append({"name": name, **words})
    return {"variables": found}


def _frames() -> Iterator[FrameType]:
    """Yields the program's own frames of the thread that stands, innermost first."""
    thread = _stands or threading.main_thread().ident
    frame = lines.program_frame(sys._current_frames()[thread]) if thread in sys._current_frames() else None
    while frame is not None:
        yield frame
        frame = lines.program_frame(frame.f_back) if frame.f_back is not None else None


def _scopes() -> Iterator[Dict[str, Any]]:
    """Yields the variables of the innermost frame, those of its file, and then those of its callers."""
    for i, frame in enumerate(_frames()):
        yield dict(frame.f_locals)
        if i == 0:
            yield frame.f_globals


def _value(text: str) -> Any:
    """Returns the value of a name, or of a part such as ``self.bufs[0]``. Errors: Unavailable; what attributes raise."""
    code, root = _parsed(text)
    for names in _scopes():
        if root in names:
            return eval(code, {"__builtins__": {}}, names)
    at = next((lines.described(frame) for frame in _frames()), "the place where it stands")
    raise Unavailable(f"is no variable at {at}")


def _parsed(text: str) -> Tuple[CodeType, str]:
    """Returns the code of a name or a part, and the name with which it begins."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        node: Any = tree.body
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name) and all(type(n).__name__ in _PARTS for n in ast.walk(tree)):
            return compile(tree, "<attach>", "eval"), node.id
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise Unavailable("is neither a variable nor a part of one, such as self.buf or bufs[0]")


watch.asked.update({"continue": _continue, "tensor": _tensor, "variables": _variables})
