"""The exceptions of symmetric memory on the cpu device. Each text begins with the rank and the operator."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Optional

from ..errors import SymmreplError

_PACKAGES = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,)


class TorchError(SymmreplError, RuntimeError):
    """The base of these exceptions. rank is this process's rank in the group, op the operator, where the line that called it."""

    def __init__(self, rank: Optional[int], op: str, text: str) -> None:
        self.rank, self.op, self.where = rank, op, _caller()
        super().__init__(f"{'' if rank is None else f'rank {rank}: '}{op}: {text}{self.where and f' (called at {self.where})'}")


class Misuse(TorchError, ValueError):
    """A call was refused before anything ran."""


class Mismatch(TorchError):
    """The ranks of a group made different calls, or one has not made the call in time."""


def _caller() -> str:
    """Returns file and line of the innermost frame that belongs neither to this package nor to PyTorch."""
    frame: Optional[FrameType] = sys._getframe(1)
    torch = sys.modules.get("torch")
    packages = (*_PACKAGES, os.path.dirname(torch.__file__) + os.sep) if torch and torch.__file__ else _PACKAGES
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(packages) and not file.startswith("<"):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
