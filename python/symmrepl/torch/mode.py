"""Dispatch modes of PyTorch whose first operator does not import the compiler of torch.compile, which takes a second."""

from __future__ import annotations

from typing import Any

from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy
from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """A mode whose `__torch_dispatch__`, with all that it calls, torch.compile leaves as it is, as those of other modes."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or PyTorch imports torch._dynamo to wrap the method

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        skip = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
        set_code_exec_strategy(cls.__torch_dispatch__.__code__, skip)
