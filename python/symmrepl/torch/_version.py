"""Checks that PyTorch is there, and of a version whose interface is known."""

import warnings

OLDEST, NEWEST = (2, 11), (2, 15)


def check() -> bool:
    """Reports whether the version of PyTorch is a known one, after a warning if not. Errors: ImportError if it is absent or too old."""
    oldest, newest = (f"{v[0]}.{v[1]}" for v in (OLDEST, NEWEST))
    try:
        import torch
    except ModuleNotFoundError as e:
        if e.name != "torch":
            raise
        raise ImportError(f"symmrepl.torch needs PyTorch {oldest} or later, and there is none: pip install torch", name="torch") from None
    version = tuple(int(word) for word in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"symmrepl.torch needs PyTorch {oldest} or later, and this is {torch.__version__}: pip install -U torch")
    if not torch.distributed.is_available():
        raise ImportError(f"symmrepl.torch needs torch.distributed, and this build of PyTorch {torch.__version__} has none")
    if version > NEWEST:
        warnings.warn(f"symmrepl.torch knows PyTorch up to {newest}, and this is {torch.__version__}", stacklevel=3)
    return version <= NEWEST
