"""Explains what a program on GPUs waits for: which call stands on which stream, for whom, and at which line it was made.

A call on a GPU returns before it has run, so the line at which the program stands is not the one that
waits. `calls` notes the calls of symmetric memory, and launches of kernels of
torch.cuda._compile_kernel, as the program makes them. `queue` keeps them by stream until they are
over. While a stream stands, `pads` copies the signal pads of all ranks on a stream of its own, and
`standing` says which call it is and whose signal is missing. They ask CUDA's driver by `driver`, in
a thread of their own.

Nothing here waits for the GPU in a thread of the program. What is noted are names, numbers and weak
references: no tensor lives longer for it.
"""

from types import FrameType
from typing import List, Tuple

from ...emulator import watch
from . import calls, standing


class _Gpus:
    def moves(self) -> int:
        return calls.moves()

    def standing(self) -> List[Tuple[watch.Call, str]]:
        return standing.standing()

    def waits(self, frame: FrameType) -> bool:
        return standing.waits_for_gpu(frame)


def install() -> None:
    """Notes the calls that this process makes on GPUs from now on, and answers for them."""
    calls.install()
    watch.enqueued = _Gpus()
