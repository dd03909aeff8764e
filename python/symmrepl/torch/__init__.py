"""PyTorch's symmetric memory on the cpu device.

    import torch, torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem
    import symmrepl.torch

    dist.init_process_group("gloo")
    t = symm_mem.empty(1024, dtype=torch.float32, device="cpu")
    h = symm_mem.rendezvous(t, dist.group.WORLD)
    torch.ops.symm_mem.one_shot_all_reduce(t.fill_(h.rank), "sum", dist.group.WORLD.group_name)

The import makes `empty`, `rendezvous`, handles and the operators of `torch.ops.symm_mem` work with
device="cpu"; with other devices they are PyTorch's. The processes of the program are the ranks, on one
host; the group is gloo's. Operators and the signals of handles run kernels of this project on the
emulated device of the process, in order, and end before they return. `compile` makes a kernel of a
text of CUDA C++, as `torch.cuda._compile_kernel` does.
"""

from ..emulator import sanitize
from ..emulator.attach import breakpoint
from ..emulator.errors import CompileError, KernelFault, LaunchError, Unavailable, WaitTimeout
from . import _version

_known = _version.check()
try:
    from . import _install
    from .errors import Mismatch, Misuse, TorchError
    from .kernels import Kernel, compile
    from .watching import watch

    _install.install()
except (ImportError, AttributeError) as e:
    if _known:
        raise
    raise ImportError(f"this PyTorch is newer than symmrepl.torch, and its interface is another one: {e}: pip install -U symmrepl") from e
if sanitize.wanted():
    from . import touched

    touched.install()

__all__ = [
    "CompileError", "Kernel", "KernelFault", "LaunchError", "Mismatch", "Misuse", "TorchError", "Unavailable", "WaitTimeout", "breakpoint",
    "compile", "watch",
]  # fmt: skip
