"""The exceptions of symmetric memory on the cpu device. Each text begins with the rank and the operator."""

from __future__ import annotations

from typing import Optional

from ..emulator.lines import caller, shown
from ..errors import SymmreplError


class TorchError(SymmreplError, RuntimeError):
    """The base of these exceptions. rank is this process's rank in the group, op the operator, where the line that called it."""

    def __init__(self, rank: Optional[int], op: str, text: str) -> None:
        file, line = caller()
        self.rank, self.op, self.where = rank, op, f"{shown(file)}:{line}" if file else ""
        super().__init__(f"{'' if rank is None else f'rank {rank}: '}{op}: {text}{self.where and f' (called at {self.where})'}")


class Misuse(TorchError, ValueError):
    """A call was refused before anything ran."""


class Mismatch(TorchError):
    """The ranks of a group made different calls, or one has not made the call in time."""
