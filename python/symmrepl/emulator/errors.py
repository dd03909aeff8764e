"""The exceptions of the cpu device in processes of Python."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from ..errors import SymmreplError


class Diagnostic(NamedTuple):
    """An error of the compiler. line and column count from 1; they are 0 if the compiler does not say."""

    file: str
    line: int
    column: int
    text: str
    source: str


class EmulatorError(SymmreplError):
    """The base of these exceptions."""


class Unavailable(EmulatorError, RuntimeError):
    """This machine lacks something: the program, a compiler, shared memory."""


class CompileError(EmulatorError, RuntimeError):
    """A text of kernels does not compile; ``diagnostics`` has the places."""

    def __init__(self, text: str, diagnostics: List[Diagnostic]) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics


class KernelFault(EmulatorError, RuntimeError):
    """A kernel faulted. The device of this process is of no use any more."""


class WaitTimeout(EmulatorError, RuntimeError, TimeoutError):
    """A wait reached its time limit. peer is the rank that it waited for, channel that of the signal."""

    def __init__(self, text: str, peer: int, channel: int) -> None:
        super().__init__(text)
        self.peer, self.channel = peer, channel


class Refused(EmulatorError, ValueError):
    """A kernel refused a value that it found in memory. Its fields are those of symm::refuse."""

    def __init__(self, kernel: str, what: int, rank: int, index: int, value: int, limit: int) -> None:
        super().__init__(f"{kernel} refused value {index} of rank {rank}, {value}: the limit is {limit}")
        self.what, self.rank, self.index, self.value, self.limit = what, rank, index, value, limit


class LaunchError(EmulatorError, ValueError):
    """A launch was refused before anything ran. argument is the number of the argument to blame, from 0, or None."""

    def __init__(self, text: str, argument: Optional[int] = None) -> None:
        super().__init__(text)
        self.argument = argument
