"""The operators of torch.ops.symm_mem for tensors of the CPU. `python -m symmrepl.torch.operators` lists them.

They run the kernels of this project, as Go does: see kernels/ and symmem/. ATen computes products of matrices.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import torch

from ..errors import Misuse
from . import gather, matmul, multimem, onesided, reduce, rows, tiles, words  # noqa: F401  they fill ROWS
from .call import ROWS

_library: Optional[torch.library.Library] = None


def names() -> List[str]:
    """Returns the operators of the installed PyTorch."""
    import torch.distributed._symmetric_memory  # noqa: F401  it declares some of them

    found = (name.partition("::") for name in torch._C._dispatch_get_all_op_names())
    return sorted(name for space, _, name in found if space == "symm_mem")


def register() -> None:
    """Registers the operators for the key CPU. Those that have no row are refused."""
    global _library
    _library = torch.library.Library("symm_mem", "IMPL", "CPU")
    for name in names():
        _library.impl(name, ROWS[name].function if name in ROWS else _refusal(name))
    for function in onesided.BY_HANDLE:
        name = function.__name__
        if hasattr(torch.ops.symm_mem, name):
            setattr(torch.ops.symm_mem, name, onesided.ByHandle(getattr(torch.ops.symm_mem, name), function))


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Misuse(None, name, "this operator has no row for the cpu device: python -m symmrepl.torch.operators lists those that have")

    return refuse


def table() -> str:
    """Returns a table of the operators of the installed PyTorch, in Markdown."""
    lines = ["| Operator | Kernels that it runs on the CPU |", "|---|---|"]
    for name in names():
        found = ROWS.get(name)
        lines.append(f"| `{name}` | {'none: refused' if found is None else found.kernels} |")
    return "\n".join(lines)
