"""Passes tensors between a session and Python, in files that both map into memory."""

from __future__ import annotations

import ast
import itertools
import json
import mmap
import os
import struct
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import TransferError

if TYPE_CHECKING:
    from numpy import ndarray
    from torch import Tensor as TorchTensor


class DType(NamedTuple):
    """An element type of tensors."""

    name: str
    """The name in the session, such as ``bf16``."""
    file: str
    """The name in files, such as ``BF16``."""
    size: int
    torch: str
    numpy: str
    """The name of the type in numpy or ml_dtypes."""
    raw: str
    """A type of numpy with the same size. It is used if numpy lacks the type and ml_dtypes is not installed."""
    code: str
    """The code of the type in package struct; empty if struct lacks the type."""


DTYPES: Tuple[DType, ...] = (
    DType("f16", "F16", 2, "float16", "float16", "float16", "e"),
    DType("bf16", "BF16", 2, "bfloat16", "bfloat16", "uint16", ""),
    DType("f32", "F32", 4, "float32", "float32", "float32", "f"),
    DType("f64", "F64", 8, "float64", "float64", "float64", "d"),
    DType("i8", "I8", 1, "int8", "int8", "int8", "b"),
    DType("u8", "U8", 1, "uint8", "uint8", "uint8", "B"),
    DType("i32", "I32", 4, "int32", "int32", "int32", "i"),
    DType("u32", "U32", 4, "uint32", "uint32", "uint32", "I"),
    DType("i64", "I64", 8, "int64", "int64", "int64", "q"),
    DType("u64", "U64", 8, "uint64", "uint64", "uint64", "Q"),
    DType("i16", "I16", 2, "int16", "int16", "int16", "h"),
    DType("u16", "U16", 2, "uint16", "uint16", "uint16", "H"),
    DType("bool", "BOOL", 1, "bool", "bool", "bool", "?"),
    DType("c64", "C64", 8, "complex64", "complex64", "complex64", ""),
    DType("c128", "C128", 16, "complex128", "complex128", "complex128", ""),
    DType("f8e4m3", "F8_E4M3", 1, "float8_e4m3fn", "float8_e4m3fn", "uint8", ""),
    DType("f8e5m2", "F8_E5M2", 1, "float8_e5m2", "float8_e5m2", "uint8", ""),
)
"""The element types that tensors have."""


FORMS = ("numpy", "torch", "tensor")
"""The forms in which get returns tensors."""


def dtype_of(name: str) -> DType:
    """Returns the element type with this name in the session, in torch or in numpy."""
    for t in DTYPES:
        if name in (t.name, t.file, t.torch, t.numpy):
            return t
    raise TransferError(
        f"tensors have no elements of type {name}: convert it, for example to float32; the types are {', '.join(t.name for t in DTYPES)}"
    )


class Tensor:
    """The contents of a tensor, in memory that only this process uses.

    A Tensor needs no library. ``numpy()``, ``torch()`` and the ``from_dlpack`` of any library return
    arrays on the same memory.
    """

    def __init__(self, dtype: DType, shape: Sequence[int], memory: Any, offset: int = 0) -> None:
        self._type = dtype
        self.shape: Tuple[int, ...] = tuple(shape)
        self._memory = memory
        self._offset = offset

    @property
    def dtype(self) -> str:
        """The name of the element type in the session, such as ``bf16``."""
        return self._type.name

    @property
    def size(self) -> int:
        """The number of elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def nbytes(self) -> int:
        return self.size * self._type.size

    @property
    def data(self) -> memoryview:
        """The bytes, row-major and little-endian."""
        return memoryview(self._memory)[self._offset : self._offset + self.nbytes]

    def numpy(self) -> ndarray:
        """Returns an array on this memory. bf16 and 8-bit floats are types of ml_dtypes, or without ml_dtypes integers of the same size."""
        import numpy

        return numpy.frombuffer(self._memory, _numpy_type(self._type), self.size, self._offset).reshape(self.shape)

    def torch(self) -> TorchTensor:
        """Returns a tensor of PyTorch on this memory, on the CPU."""
        import torch

        dtype = getattr(torch, self._type.torch, None)
        if dtype is None:
            raise TransferError(f"this version of torch has no {self._type.torch}")
        if self.size == 0:
            return torch.empty(self.shape, dtype=dtype)
        return torch.frombuffer(self._memory, dtype=dtype, count=self.size, offset=self._offset).reshape(self.shape)

    def tolist(self) -> Any:
        """Returns the elements as numbers, in lists nested like the shape."""
        code, n = self._type.code, self.size
        if code:
            flat = list(struct.unpack(f"<{n}{code}", self.data))
        elif self._type.name == "bf16":
            words = struct.unpack(f"<{n}H", self.data)
            flat = list(struct.unpack(f"<{n}f", struct.pack(f"<{n}I", *(w << 16 for w in words))))
        elif self._type.name in ("c64", "c128"):
            parts = struct.unpack(f"<{2 * n}{'f' if self._type.size == 8 else 'd'}", self.data)
            flat = [complex(re, im) for re, im in zip(parts[::2], parts[1::2])]
        else:
            raise TransferError(f"tolist cannot convert {self.dtype}: use torch(), or numpy() with ml_dtypes")
        for length in reversed(self.shape[1:]):
            flat = [flat[i : i + length] for i in range(0, len(flat), length)] if length else [[] for _ in range(self.shape[0])]
        return flat if self.shape else flat[0]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> ndarray:
        a = self.numpy()
        return a if dtype is None and not copy else a.astype(dtype or a.dtype)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __dlpack__(self, **options: Any) -> Any:
        if self._type.numpy == self._type.raw:
            return self.numpy().__dlpack__(**options)
        try:
            return self.torch().__dlpack__(**options)
        except ImportError:
            raise BufferError(f"passing {self.dtype} to another library needs torch, which is not installed") from None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"symmrepl.Tensor({self.dtype}{list(self.shape)})"


def _numpy_type(t: DType) -> Any:
    import numpy

    if t.numpy == t.raw:
        return numpy.dtype(t.numpy)
    try:
        import ml_dtypes
    except ImportError:
        return numpy.dtype(t.raw)
    return numpy.dtype(getattr(ml_dtypes, t.numpy))


def convert(t: Tensor, to: Optional[str]) -> Any:
    """Returns the tensor in the form ``numpy``, ``torch`` or ``tensor``; by default numpy if it is installed."""
    if to is None:
        try:
            import numpy  # noqa: F401

            to = "numpy"
        except ImportError:
            to = "tensor"
    if to == "numpy":
        return t.numpy()
    if to == "torch":
        return t.torch()
    if to == "tensor":
        return t
    raise ValueError(f"unknown form to={to!r}: use numpy, torch or tensor")


def stack(tensors: List[Tensor]) -> Tensor:
    """Stacks tensors of one type and shape along a new first dimension."""
    first = tensors[0]
    for t in tensors:
        if (t.dtype, t.shape) != (first.dtype, first.shape):
            raise TransferError(f"the ranks' tensors differ, {first!r} and {t!r}, so they do not fit into one array: use get_by_rank")
    if len(tensors) == 1:
        return Tensor(first._type, (1, *first.shape), first._memory, first._offset)
    memory = mmap.mmap(-1, max(1, first.nbytes * len(tensors)))
    for i, t in enumerate(tensors):
        memory[i * first.nbytes : (i + 1) * first.nbytes] = t.data
    return Tensor(first._type, (len(tensors), *first.shape), memory)


def value(text: str) -> Any:
    """Returns a value from the JSON of a session, which also has NaN, infinities and complex numbers."""

    def number(fields: Dict[str, Any]) -> Any:
        return complex(*fields["__complex__"]) if list(fields) == ["__complex__"] else fields

    return json.loads(text, object_hook=number)


def read(path: str) -> Tensor:
    """Maps the tensor in a file and removes the file. Then only this process uses the memory."""
    with open(path, "r+b") as f:
        os.unlink(path)
        if path.endswith(_NPY):
            return _read_npy(f)
        (length,) = struct.unpack("<Q", f.read(8))
        header: Dict[str, Any] = json.loads(f.read(length))
        (about,) = (v for k, v in header.items() if k != "__metadata__")
        memory = mmap.mmap(f.fileno(), 0)
    return Tensor(dtype_of(about["dtype"]), about["shape"], memory, 8 + length + about["data_offsets"][0])


_NPY = ".npy"
"""The extension of files of c128, a type that the format safetensors lacks."""

_NPY_MAGIC = b"\x93NUMPY\x01\x00"


def _read_npy(f: BinaryIO) -> Tensor:
    """Maps the tensor of c128 in an .npy file."""
    _, length = struct.unpack("<8sH", f.read(10))
    about = ast.literal_eval(f.read(length).decode())
    return Tensor(dtype_of("c128"), about["shape"], mmap.mmap(f.fileno(), 0), 10 + length)


def _header(t: Tensor) -> Tuple[str, bytes]:
    """Returns the extension of the file of a tensor, and the bytes in front of the elements."""
    if t.dtype == "c128":
        text = repr({"descr": "<c16", "fortran_order": False, "shape": t.shape})
        text += " " * (-(len(text) + 11) % 64) + "\n"
        return _NPY, _NPY_MAGIC + struct.pack("<H", len(text)) + text.encode()
    about = {"tensor": {"dtype": t._type.file, "shape": list(t.shape), "data_offsets": [0, t.nbytes]}}
    header = json.dumps(about, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return ".safetensors", struct.pack("<Q", len(header)) + header


def take(value: Any, dtype: Optional[str] = None) -> Tensor:
    """Returns a tensor on the memory of an array. If the array is on a GPU or not contiguous, the tensor is a copy.

    dtype is the type of the elements if the array has them as another type of the same size.
    """
    said = None if dtype is None else dtype_of(dtype)

    def element(name: str, size: int) -> DType:
        if said is None:
            return dtype_of(name)
        if said.size != size:
            raise TransferError(f"elements of type {name} have {size} bytes, and elements of type {said.name} have {said.size}")
        return said

    if isinstance(value, Tensor):
        return Tensor(element(value.dtype, value._type.size), value.shape, value._memory, value._offset)
    if type(value).__module__.split(".")[0] == "torch":
        import torch

        value = value.detach().cpu().contiguous()
        t = element(str(value.dtype).split(".")[-1], value.element_size())
        flat = value.reshape(-1).view(torch.uint8) if value.numel() else torch.empty(0, dtype=torch.uint8)
        try:
            memory: Any = flat.numpy()
            return Tensor(t, value.shape, memoryview(memory))
        except RuntimeError:  # torch without numpy
            return Tensor(t, value.shape, bytes(flat.tolist()))
    if isinstance(value, (bytes, bytearray, memoryview)):
        view = memoryview(value)
        code = view.format.lstrip("@=<")
        if not view.c_contiguous:
            raise TransferError("the buffer is not contiguous: pass a contiguous buffer")
        name = next((t.name for t in DTYPES if t.code == {"l": "q", "L": "Q"}.get(code, code)), f"format {view.format!r}")
        return Tensor(element(name, view.itemsize), view.shape or (), view.cast("B") if view.nbytes else b"")
    try:
        import numpy
    except ImportError:
        raise TransferError(
            f"converting a {type(value).__name__} to a tensor needs numpy, which is not installed; a memoryview does not need it"
        ) from None
    if not isinstance(value, numpy.ndarray) and hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        value = numpy.from_dlpack(value)
    a = numpy.asarray(value, order="C")
    t = element(a.dtype.name, a.dtype.itemsize)
    if a.dtype.byteorder == ">":
        a = a.astype(a.dtype.newbyteorder("<"))
    octets: Any = a.reshape(-1).view(numpy.uint8)
    return Tensor(t, a.shape, memoryview(octets) if a.size else b"")


_numbers = itertools.count()


def write(folder: str, tensors: Dict[Optional[int], Tensor]) -> Tuple[str, List[str]]:
    """Writes tensors to files. Returns their path and the files.

    The key None stands for all ranks. If the keys are ranks, the path contains {rank}.
    """
    stem = os.path.join(folder, f"put{os.getpid()}-{next(_numbers)}")
    files: List[str] = []
    extension = ""
    try:
        for rank, t in tensors.items():
            extension, header = _header(t)
            path = f"{stem}{extension}" if rank is None else f"{stem}-{rank}{extension}"
            files.append(path)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as f:
                f.write(header)
                rest = t.data
                while rest:
                    rest = rest[f.write(rest) :]
    except OSError as e:
        remove(files)
        raise TransferError(f"the tensor cannot be written to {folder}: {e}; SYMMREPL_SHM names another folder") from e
    return (f"{stem}{extension}" if None in tensors else f"{stem}-{{rank}}{extension}"), files


def remove(files: Sequence[str]) -> None:
    """Removes the files that exist."""
    for path in files:
        try:
            os.unlink(path)
        except OSError:
            pass
