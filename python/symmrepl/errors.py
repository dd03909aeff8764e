"""The exceptions of this package.

Every exception of this package is a :class:`SymmreplError`. A cell that fails raises the subclass
of :class:`CellError` for its kind, which carries the errors of all ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional, Type

if TYPE_CHECKING:
    from .results import RankError, Result


class SymmreplError(Exception):
    """The base of all exceptions of this package."""

    def _render_traceback_(self) -> List[str]:
        """Returns the lines that IPython shows instead of a traceback. A traceback would show only code of this package."""
        return str(self).split("\n")


class StartError(SymmreplError):
    """The session did not start, or this process could not attach to it. The text is the message of the program."""


class ProgramNotFound(StartError):
    """The program symmrepl is not installed."""


class ProtocolError(StartError):
    """The program has a version that this package does not support."""


class SessionLost(SymmreplError):
    """The session or its process has ended. No more cells can run on it."""


class Refused(SymmreplError):
    """A request was not carried out, for example because a command is unknown or a rank does not exist."""


class TransferError(SymmreplError):
    """A tensor cannot be sent or fetched, because of its type, its shape, or a host without shared memory."""


class ArgumentError(Refused, TransferError, ValueError):
    """A call has an argument of the right type that cannot be used, for example a rank that does not exist. The text names the argument."""


class CellError(SymmreplError):
    """A cell failed.

    The fields describe the error that is the cause; ``errors`` has the errors of all ranks. ``result`` has
    the output and the values of the cell up to the error.
    """

    def __init__(
        self,
        errors: List[RankError],
        result: Optional[Result] = None,
        traceback: Optional[List[str]] = None,
    ) -> None:
        super().__init__("\n".join(e.text for e in errors))
        self.errors = errors
        self.result = result
        self._traceback = traceback

    @property
    def cause(self) -> RankError:
        """The error that is most likely the cause of the others."""
        return min(self.errors, key=lambda e: e.kind in ("peer", "interrupted"))

    @property
    def kind(self) -> str:
        return self.cause.kind

    @property
    def ranks(self) -> List[int]:
        """The ranks with the error."""
        return self.cause.ranks

    @property
    def rank(self) -> int:
        """The first of the ranks with the error."""
        return self.cause.ranks[0]

    @property
    def op(self) -> str:
        """The operation that failed, such as ``wait_signal``; empty if no operation failed."""
        return self.cause.op

    @property
    def peer(self) -> Optional[int]:
        """The other rank of the operation; None if there is none."""
        return self.cause.peer

    @property
    def cell(self) -> int:
        """The number of the cell in the session."""
        return self.cause.cell

    @property
    def hint(self) -> str:
        """A proposal what to do next; may be empty."""
        return self.cause.hint

    def _render_traceback_(self) -> List[str]:
        """Returns the lines that the project's own notebooks show for the error."""
        return self._traceback or super()._render_traceback_()


class CellSyntaxError(CellError):
    """The cell does not parse."""


class CellTypeError(CellError):
    """The cell does not type-check. No part of it has run."""


class Unsupported(CellError):
    """The cell is valid Go that the interpreter does not run. The message proposes other code."""


class CellPanic(CellError):
    """The cell panicked."""


class Misuse(CellError):
    """An operation was refused before anything was launched."""


class Mismatch(CellError):
    """The ranks disagree about a collective call, or a rank has finished the cell without it."""


class CompileError(CellError):
    """A kernel does not compile; ``cause.detail`` has the messages of the compiler."""


class KernelFault(CellError):
    """A kernel faulted."""


class WaitTimeout(CellError):
    """A wait reached its deadline."""


class Deadlock(CellError):
    """A wait cannot end. ``hang`` says what each rank was doing."""

    @property
    def hang(self) -> List[HangRow]:
        return next((e.hang for e in self.errors if e.hang), [])


class Interrupted(CellError):
    """The cell was interrupted by ``Session.interrupt`` or by another front end."""


class PeerFailed(CellError):
    """Another rank failed or died while this one waited for it."""


class RankDied(CellError):
    """The process of a rank died. A new process has taken its place; the rank's variables are lost."""


class SystemFailure(CellError):
    """The machine, the driver or the network failed."""


KINDS: Dict[str, Type[CellError]] = {
    "syntax": CellSyntaxError,
    "type": CellTypeError,
    "unsupported": Unsupported,
    "panic": CellPanic,
    "misuse": Misuse,
    "mismatch": Mismatch,
    "compile": CompileError,
    "fault": KernelFault,
    "timeout": WaitTimeout,
    "deadlock": Deadlock,
    "interrupted": Interrupted,
    "peer": PeerFailed,
    "died": RankDied,
    "system": SystemFailure,
}
"""The exceptions by the kinds of errors that the session reports."""


def cell_error(
    errors: List[RankError],
    result: Optional[Result] = None,
    traceback: Optional[List[str]] = None,
) -> CellError:
    """Returns the exception for the errors of a cell."""
    error = CellError(errors, result, traceback)
    return KINDS.get(error.kind, CellError)(errors, result, traceback)


if TYPE_CHECKING:
    from .results import HangRow
