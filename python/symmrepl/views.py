"""Views of tensors in the memory of GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

from . import _cuda
from ._inbox import Memory
from .errors import TransferError
from .tensors import DType

if TYPE_CHECKING:
    from torch import Tensor as TorchTensor

FORMS = ("torch", "tensor")
"""The forms in which get returns views."""

_KINDS = {"float": "f", "int": "i", "uint": "u", "bool": "b", "complex": "c"}


class View:
    """A tensor of a rank in the memory of its GPU, which this process has mapped: what either process writes is seen by both.

    A View needs no library. ``torch()``, and any library that takes ``__cuda_array_interface__``, such as
    ``cupy.asarray``, return arrays on the same memory. They keep the View, and the View keeps the memory,
    also after the rank has freed the tensor or has ended.
    """

    def __init__(self, mapping: _cuda.Mapping, offset: int, dtype: DType, shape: Tuple[int, ...]) -> None:
        self._mapping = mapping
        self._address = mapping.address + offset
        self._type = dtype
        self.shape = shape
        self.device = mapping.device
        """The number of the GPU among those that this process sees."""

    @property
    def dtype(self) -> str:
        """The name of the element type in the session, such as ``bf16``."""
        return self._type.name

    @property
    def nbytes(self) -> int:
        n = self._type.size
        for length in self.shape:
            n *= length
        return n

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """The memory, in version 3 of the interface. bf16 and 8-bit floats are unsigned integers with the same bits."""
        raw, size = self._type.raw, self._type.size
        return self._interface(self.shape, f"{'|' if size == 1 else '<'}{_KINDS[raw.rstrip('0123456789')]}{size}")

    def _interface(self, shape: Tuple[int, ...], typestr: str) -> Dict[str, Any]:
        return {"shape": shape, "typestr": typestr, "data": (self._address, False), "strides": None, "version": 3, "stream": None}

    def torch(self) -> TorchTensor:
        """Returns a tensor of PyTorch on this memory."""
        torch = cuda_torch()
        dtype = getattr(torch, self._type.torch, None)
        if dtype is None:
            raise TransferError(f"this version of torch has no {self._type.torch}: install a newer one, or use to='tensor'")
        device = f"cuda:{self.device}"
        if not self.nbytes:
            return torch.empty(self.shape, dtype=dtype, device=device)
        try:
            octets = torch.as_tensor(_Octets(self), device=device)
        except (RuntimeError, TypeError) as e:  # without numpy, torch does not take such objects
            raise TransferError(f"torch makes no tensor of the memory: {e}; install numpy if it is missing, or use to='tensor'") from e
        if octets.data_ptr() != self._address:
            raise TransferError("torch has copied the memory: take a copy, with device='cpu', or use to='tensor'")
        return octets.view(dtype).view(self.shape)

    def __repr__(self) -> str:
        return f"symmrepl.View({self.dtype}{list(self.shape)} on cuda:{self.device})"


class _Octets:
    """The bytes of a view, from which torch makes a tensor of any type."""

    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return self._view._interface((self._view.nbytes,), "|u1")


def cuda_torch() -> Any:
    """Returns the module torch, if it can use GPUs."""
    try:
        import torch
    except ImportError:
        raise TransferError("to='torch' needs torch, which is not installed; to='tensor' needs no library") from None
    if not torch.cuda.is_available():
        raise TransferError(
            "torch finds no GPU in this process: install a torch with CUDA, or check CUDA_VISIBLE_DEVICES; device='cpu' gives a copy"
        )
    return torch


def view(memory: Memory) -> View:
    """Maps memory that a rank has sent. The memory remains the caller's to close."""
    mapping = _cuda.driver().map(memory.descriptor, memory.size, memory.gpu)
    return View(mapping, memory.offset, memory.dtype, memory.shape)
