"""The line of the program that has called into this package or into PyTorch."""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Callable, Optional, Tuple

_PACKAGES = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,)
_COMPILED = "TORCHINDUCTOR_CACHE_DIR"
"""The variable with the folder of what torch.compile makes. PyTorch sets it, unless the user does."""

_LIBRARY = os.path.dirname(os.__file__) + os.sep  # of Python itself; site-packages and dist-packages may be below it

_TRACED = re.compile(r'^\s*File "(.+)", line (\d+)', re.MULTILINE)


def call_at(trace: str, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function in which the program has no frames: for caller it is at the innermost line of its own in the text of a traceback."""
    place = _innermost(trace)
    out = function(*args)
    del place  # it was for caller
    return out


@functools.lru_cache(maxsize=None)
def _innermost(trace: str) -> Optional[Tuple[str, int]]:
    return next(((file, int(line)) for file, line in reversed(_TRACED.findall(trace)) if not _foreign(file)), None)


def caller() -> Tuple[str, int]:
    """Returns file and line of the innermost frame of the program's own; ("", 0) if there is none."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if frame.f_code is call_at.__code__:
            place: Optional[Tuple[str, int]] = frame.f_locals["place"]
            if place is not None:
                return place
        elif not _foreign(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def place_of(text: str) -> Optional[Tuple[str, int]]:
    """Returns the file that calls into this package, and the line on which a text of its begins; None if the text is not there as it is."""
    file, line = caller()
    source = "".join(linecache.getlines(file))
    at = source.find(text, 0 if "\n" in text else sum(map(len, linecache.getlines(file)[: line - 1])))
    return (shown(file), source.count("\n", 0, at) + 1) if text.strip() and at >= 0 else None


def program_frame(frame: FrameType) -> Optional[FrameType]:
    """Returns the innermost frame of the program's own, from a frame outwards: none of this package, of PyTorch or of Python's library."""
    found: Optional[FrameType] = frame
    while found is not None and _foreign(found.f_code.co_filename):
        found = found.f_back
    return found


def _foreign(file: str) -> bool:
    """Reports whether a file is one of this package, of PyTorch, of what torch.compile has made, or of Python's library."""
    return file.startswith((*_packages(), "<")) or file.startswith(_LIBRARY) and "-packages" + os.sep not in file


def described(frame: Optional[FrameType]) -> str:
    """Returns the place of a frame: "prog.py:14 in step"; "" of None."""
    return "" if frame is None else place(frame.f_code, frame.f_lineno)


def place(code: CodeType, line: int) -> str:
    """Returns a line of a function: "prog.py:14 in step"."""
    function = "" if code.co_name == "<module>" else f" in {code.co_name}"
    return f"{shown(code.co_filename)}:{line}{function}"


def shown(file: str) -> str:
    """Returns a file's name as messages have it: relative if it is below the current folder."""
    try:
        here = os.getcwd() + os.sep
    except OSError:
        return file
    return file[len(here) :] if file.startswith(here) else file


def expression(frame: Optional[FrameType]) -> str:
    """Returns the text that a frame evaluates, such as "time.sleep(5)", or its line before Python 3.11; "" if it is not known."""
    if frame is None:
        return ""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is not None:
        begin, end, first, last = next(islice(positions(), max(frame.f_lasti, 0) // 2, None), (None,) * 4)
        if begin is not None and begin == end == frame.f_lineno and first is not None:
            line = line.encode()[first:last].decode(errors="replace")  # the columns count bytes
    text = " ".join(line.split())
    return text if len(text) <= 60 else text[:59] + "…"


def _packages() -> Tuple[str, ...]:
    torch, compiled = sys.modules.get("torch"), os.environ.get(_COMPILED)
    of_torch = (os.path.dirname(torch.__file__) + os.sep,) if torch and torch.__file__ else ()
    return (*_PACKAGES, *of_torch, *((os.path.join(compiled, ""),) if compiled else ()))
