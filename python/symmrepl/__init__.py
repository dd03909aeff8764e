"""Sessions of symmrepl from Python: one prompt for N GPUs. Cells of Go run on all ranks in lockstep.

    import symmrepl

    with symmrepl.start(n=4) as s:
        s.run("t := symm.Empty(symm.F32, 4).Fill(symm.Rank())")
        print(s.run('symm.OneShotAllReduce(t, "sum").Float32s()'))   # [0-3] []float32{6, 6, 6, 6}
        t = s.get("t")                                                # an array of shape (4, 4)
        s.put("t", t * 2, by_rank=True)

In a notebook, ``%load_ext symmrepl`` adds ``%%symm`` and ``%%cuda`` cells; see docs/python.md.
"""

from typing import Any

from .errors import (
    ArgumentError,
    CellError,
    CellPanic,
    CellSyntaxError,
    CellTypeError,
    CompileError,
    Deadlock,
    Interrupted,
    KernelFault,
    Mismatch,
    Misuse,
    PeerFailed,
    ProgramNotFound,
    ProtocolError,
    RankDied,
    Refused,
    SessionLost,
    StartError,
    SymmreplError,
    SystemFailure,
    TransferError,
    Unsupported,
    WaitTimeout,
)
from .remote import RemoteTensor
from .results import (
    Access,
    Finding,
    Hang,
    HangRow,
    Output,
    RankError,
    RankInfo,
    Result,
    Value,
    Variable,
    Wait,
)
from .session import Session, attach, start
from .tensors import Tensor
from .views import View

__version__ = "0.1.0"


def load_ipython_extension(shell: Any) -> None:
    """Adds the magics to a shell. ``%load_ext symmrepl`` calls it."""
    from .magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Ends the session of the magics. ``%unload_ext symmrepl`` calls it."""
    from .magics import unload

    unload(shell)


__all__ = [
    "Access", "ArgumentError", "CellError", "CellPanic", "CellSyntaxError", "CellTypeError", "CompileError", "Deadlock", "Finding", "Hang", "HangRow",
    "Interrupted", "KernelFault", "Mismatch", "Misuse", "Output", "PeerFailed", "ProgramNotFound", "ProtocolError", "RankDied", "RankError",
    "RankInfo", "Refused", "RemoteTensor", "Result", "Session", "SessionLost", "StartError", "SymmreplError", "SystemFailure", "Tensor", "TransferError",
    "Unsupported", "Value", "Variable", "View", "Wait", "WaitTimeout", "attach", "start",
]  # fmt: skip
