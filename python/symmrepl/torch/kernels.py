"""Kernels of the program: a text of CUDA C++, launched as the result of torch.cuda._compile_kernel is."""

from __future__ import annotations

import contextlib
import struct
from typing import Any, List, Optional, Sequence

import torch

from ..emulator import device as emulated
from ..emulator import lines
from ..emulator.companion import Parameter
from ..emulator.errors import LaunchError
from ..emulator.memory import Area, Part, within
from .groups import device
from .memory import described

_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {2: "e", 4: "f", 8: "d"}

# The names of C++ for the elements of tensors.
_ELEMENTS = {
    torch.float32: {"float"},
    torch.float64: {"double"},
    torch.float16: {"half", "__half"},
    torch.bfloat16: {"__nv_bfloat16", "nv_bfloat16"},
    torch.float8_e4m3fn: {"__nv_fp8_e4m3"},
    torch.float8_e5m2: {"__nv_fp8_e5m2"},
    torch.bool: {"bool", "unsigned char", "uint8_t"},
    torch.int8: {"char", "signed char", "int8_t"},
    torch.uint8: {"unsigned char", "uint8_t"},
    torch.int16: {"short", "int16_t"},
    torch.uint16: {"unsigned short", "uint16_t"},
    torch.int32: {"int", "int32_t"},
    torch.uint32: {"unsigned", "unsigned int", "uint32_t"},
    torch.int64: {"long", "long long", "int64_t"},
    torch.uint64: {"unsigned long", "unsigned long long", "uint64_t", "size_t"},
}
_SIGNED = {
    "unsigned int": "int", "unsigned": "int", "uint32_t": "int", "int32_t": "int", "unsigned long long": "long",
    "unsigned long": "long", "long long": "long", "uint64_t": "long", "int64_t": "long", "size_t": "long",
}  # fmt: skip
"""One name for integers of one size: kernels take words with and without a sign from tensors of either."""


class Kernel:
    """A kernel of a text. ``kernel(grid, block, args, shared_mem)`` runs it to its end."""

    def __init__(self, kernel: emulated.Kernel, parameters: List[Parameter]) -> None:
        self._kernel, self._parameters = kernel, parameters

    def __repr__(self) -> str:
        return f"{self._kernel.name}({', '.join(f'{p.type} {p.name}'.strip() for p in self._parameters)})"

    def __call__(
        self,
        grid: Sequence[int] = (1, 1, 1),
        block: Sequence[int] = (1, 1, 1),
        args: Optional[Sequence[Any]] = None,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        """Launches the kernel. A tensor among args is the address of its first element; numbers take the parameters' types.

        stream has no effect: the CPU has one, and a launch ends before this method returns.

        Errors, before anything runs: LaunchError if number, types, devices or contiguity of args are wrong. Then KernelFault.
        """
        args = [] if args is None else list(args)
        if len(args) != len(self._parameters):
            raise LaunchError(f"{self!r} takes {len(self._parameters)} arguments, not {len(args)}")
        out = bytearray(self._kernel.bytes)
        for i, (value, (offset, size), p) in enumerate(zip(args, self._kernel.params, self._parameters)):
            out[offset : offset + size] = self._packed(i, value, size, p)
        d, extents = device(), (_three("grid", grid), _three("block", block))
        with contextlib.nullcontext() if d.sanitizer is None else d.sanitizer.lending(_areas(args)):
            d.launch(self._kernel, *extents, bytes(out), _number("shared_mem", shared_mem))

    def _packed(self, i: int, value: Any, size: int, p: Parameter) -> bytes:
        name = f"{self._kernel.name}: argument {i}" + (f", {p.name}" if p.name else "")
        pointer = "*" in p.type or "[" in p.type
        if isinstance(value, torch.Tensor):
            if not pointer:
                raise LaunchError(f"{name}, is of type {p.type}: pass a number, not a tensor", i)
            if value.device.type != "cpu":
                raise LaunchError(f"{name}: the tensor is on {value.device}, the kernel on the cpu device", i)
            if not value.is_contiguous():
                raise LaunchError(f"{name}: the tensor is not contiguous: pass t.contiguous()", i)
            element = _element(p.type)
            known = _ELEMENTS.get(value.dtype)
            if known and element in _NAMES and _SIGNED.get(element, element) not in {_SIGNED.get(n, n) for n in known}:
                raise LaunchError(f"{name}, is of type {p.type}, and the tensor's elements are {value.dtype}", i)
            return struct.pack("<Q", value.data_ptr())
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, int):
            if pointer and value < 0:
                raise LaunchError(f"{name}: {value} is no address", i)
            if not pointer and _is_float(p.type) and size in _FLOATS:
                return struct.pack("<" + _FLOATS[size], value)
            if size not in _INTEGERS or not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
                raise LaunchError(f"{name}, is of type {p.type}: {value} does not fit", i)
            return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        if isinstance(value, float):
            if pointer or not _is_float(p.type) or size not in _FLOATS:
                raise LaunchError(f"{name}, is of type {p.type}: it takes no float", i)
            try:
                return struct.pack("<" + _FLOATS[size], value)
            except OverflowError:
                raise LaunchError(f"{name}, is of type {p.type}: {value} does not fit", i) from None
        raise LaunchError(f"{name}, is of type {p.type}: pass a tensor, an int, a float or a bool, not {type(value).__name__}", i)


_NAMES = {name for names in _ELEMENTS.values() for name in names}


def _element(type_name: str) -> str:
    """Returns the type of the elements behind a pointer to numbers, or "" behind another one."""
    if type_name.count("*") != 1:
        return ""
    words = type_name[: type_name.index("*")].replace("const", " ").replace("volatile", " ").replace("__restrict__", " ").split()
    return " ".join(words)


def _is_float(type_name: str) -> bool:
    return any(word in ("float", "double", "half", "__half") for word in type_name.replace("const", " ").split())


def _areas(args: Sequence[Any]) -> List[Area]:
    """Returns the memory of the tensors among arguments that is not shared."""
    return [
        Area(t.data_ptr(), t.nbytes, 0, True, -1, [Part(0, t.nbytes, described(t.dtype, t.shape), "element", t.element_size())])
        for t in args
        if isinstance(t, torch.Tensor) and t.nbytes and not within(t.data_ptr())
    ]


def _number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise LaunchError(f"{name} is {value!r}: it must be a number, not below 0")
    return value


def _three(name: str, values: Any) -> List[int]:
    try:
        found = [_number(name, v) for v in values]
    except TypeError:
        raise LaunchError(f"{name} is {values!r}: it has at most three numbers") from None
    if not 1 <= len(found) <= 3:
        raise LaunchError(f"{name} is {values!r}: it has at most three numbers")
    return found + [1] * (3 - len(found))


def compile(text: str, name: str, *, line: int = 1, file: Optional[str] = None) -> Kernel:
    """Compiles a text of CUDA C++ and returns its kernel of that name. The text may include symm.cuh, nccl_device.h and nvshmem.h.

    Messages name lines of file, in which the text begins on line. Without file they name the lines of the program that
    calls, if the text stands there literally, or else kernel.cu. Errors: CompileError; LaunchError if the text has no
    such kernel.
    """
    if not isinstance(text, str) or not isinstance(name, str):
        raise TypeError("compile takes a text and the name of its kernel")
    if isinstance(line, bool) or not isinstance(line, int) or not isinstance(file, (str, type(None))):
        raise TypeError("compile takes a line that is a number, and a file that is a name")
    if file is None:
        file, line = lines.place_of(text) or ("kernel.cu", line)
    kernels = device().compile(text, file, line)
    if name not in kernels:
        raise LaunchError(f"the text has no kernel {name}; it has {', '.join(kernels) or 'none'}")
    return Kernel(*kernels[name])
