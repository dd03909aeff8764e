"""As much of PyTorch as symm_torch.py uses, without a GPU: tensors are lists of numbers in host memory, whose addresses are real.
One process is one rank of a world; the memory of the other ranks is made up."""

import ctypes
import struct

import torch.cuda  # noqa: F401
from torch import distributed  # noqa: F401


class dtype:
    def __init__(self, name, size, code):
        self.name, self.itemsize, self.code = name, size, code

    def __repr__(self):
        return "torch." + self.name


float16, bfloat16 = dtype("float16", 2, "e"), dtype("bfloat16", 2, "b16")
float32, float64 = dtype("float32", 4, "f"), dtype("float64", 8, "d")
int8, int16, int32, int64 = dtype("int8", 1, "b"), dtype("int16", 2, "h"), dtype("int32", 4, "i"), dtype("int64", 8, "q")
uint8, uint16, uint32, uint64 = dtype("uint8", 1, "B"), dtype("uint16", 2, "H"), dtype("uint32", 4, "I"), dtype("uint64", 8, "Q")
bool = dtype("bool", 1, "?")
FLOATING = (float16, bfloat16, float32, float64)


class device:
    def __init__(self, kind, index=0):
        self.kind, self.index = kind, index


def numel(shape):
    n = 1
    for s in shape:
        n *= s
    return n


class Storage:
    def __init__(self, nbytes):
        self.memory = ctypes.create_string_buffer(nbytes + 16)
        self.address = (ctypes.addressof(self.memory) + 15) & ~15
        self.nbytes = nbytes


class Tensor:
    """A contiguous tensor: elements of a storage from an offset in bytes on."""

    is_cuda = True

    def __init__(self, storage, offset, shape, dtype):
        self.storage, self.offset, self.shape, self.dtype = storage, offset, tuple(shape), dtype
        self.device = device("cuda")

    def numel(self):
        return numel(self.shape)

    def element_size(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.numel() * self.dtype.itemsize

    def data_ptr(self):
        return self.storage.address + self.offset

    def is_contiguous(self):
        return True

    def is_floating_point(self):
        return self.dtype in FLOATING

    def raw(self):
        return ctypes.string_at(self.data_ptr(), self.nbytes)

    def flat(self):
        if self.dtype is bfloat16:
            return [struct.unpack("<f", struct.pack("<I", b << 16))[0] for b in struct.unpack(f"<{self.numel()}H", self.raw())]
        return list(struct.unpack(f"<{self.numel()}{self.dtype.code}", self.raw()))

    def assign(self, values):
        values = [self.element(v) for v in values]
        if len(values) != self.numel():
            raise ValueError(f"{len(values)} values for {self.numel()} elements")
        code = "H" if self.dtype is bfloat16 else self.dtype.code
        ctypes.memmove(self.data_ptr(), struct.pack(f"<{len(values)}{code}", *values), self.nbytes)
        return self

    def element(self, v):
        if self.dtype is bfloat16:
            return (struct.unpack("<I", struct.pack("<f", v))[0] + 0x8000) >> 16
        if self.dtype in FLOATING:
            return float(v)
        if self.dtype.code.islower():
            bits = 8 * self.dtype.itemsize
            v = int(v) & ((1 << bits) - 1)
            return v - (1 << bits) if v >> (bits - 1) else v
        return int(v) & ((1 << 8 * self.dtype.itemsize) - 1)

    def fill_(self, x):
        return self.assign([x] * self.numel())

    def zero_(self):
        return self.fill_(0)

    def copy_(self, other):
        return self.assign(other.flat())

    def clone(self):
        return make(self.shape, self.dtype).copy_(self)

    def cpu(self):
        return self.clone()

    def to(self, what):
        return make(self.shape, what).copy_(self) if isinstance(what, dtype) else self.clone()

    def float(self):
        return self.to(float32)

    def double(self):
        return self.to(float64)

    def view(self, *shape):
        if isinstance(shape[0], dtype):
            if not self.shape:
                return Tensor(self.storage, self.offset, (), shape[0])
            return Tensor(self.storage, self.offset, self.shape[:-1] + (self.shape[-1] * self.dtype.itemsize // shape[0].itemsize,), shape[0])
        if isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        if -1 in shape:
            known = numel([s for s in shape if s != -1])
            shape = tuple(self.numel() // known if s == -1 else s for s in shape)
        if numel(shape) != self.numel():
            raise ValueError(f"a view {shape} of {self.shape}")
        return Tensor(self.storage, self.offset, shape, self.dtype)

    reshape = view

    def __getitem__(self, key):
        row = numel(self.shape[1:]) * self.dtype.itemsize
        if isinstance(key, slice):
            start, stop, _ = key.indices(self.shape[0])
            return Tensor(self.storage, self.offset + start * row, (max(stop - start, 0),) + self.shape[1:], self.dtype)
        return Tensor(self.storage, self.offset + key * row, self.shape[1:], self.dtype)

    def chunk(self, n):
        part = self.shape[0] // n
        return [self[i * part : (i + 1) * part] for i in range(n)]

    def item(self):
        return self.flat()[0]

    def tolist(self):
        return self.flat()

    def numpy(self):
        return self

    def tobytes(self):
        return self.raw()

    def combined(self, other, f):
        others = other.flat() if isinstance(other, Tensor) else [other] * self.numel()
        return make(self.shape, self.dtype).assign([f(a, b) for a, b in zip(self.flat(), others)])

    def __add__(self, other):
        return self.combined(other, lambda a, b: a + b)

    def __mul__(self, other):
        return self.combined(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self.combined(other, lambda a, b: a / b)

    def __rshift__(self, other):
        return self.combined(other, lambda a, b: a >> b)

    def __and__(self, other):
        return self.combined(other, lambda a, b: a & b)

    def __xor__(self, other):
        return self.combined(other, lambda a, b: a ^ b)


def make(shape, dtype):
    return Tensor(Storage(numel(shape) * dtype.itemsize), 0, shape, dtype)


def zeros(*shape, dtype=float32, device=None):
    return make(shape[0] if isinstance(shape[0], (tuple, list)) else shape, dtype)


def arange(*bounds, device=None):
    values = range(*bounds)
    return make((len(values),), int64).assign(values)


def tensor(values, dtype=None, device=None):
    flat, shape = values, ()
    if isinstance(values, list):
        shape = (len(values),)
    else:
        flat = [values]
    if dtype is None:
        dtype = float32 if any(isinstance(v, float) for v in flat) else int64
    return make(shape, dtype).assign(flat)


def empty_like(t):
    return make(t.shape, t.dtype)


def cat(parts):
    whole = make((sum(p.shape[0] for p in parts),) + parts[0].shape[1:], parts[0].dtype)
    return whole.assign([v for p in parts for v in p.flat()])


def equal(a, b):
    return a.flat() == b.flat()


def allclose(a, b, rtol, atol):
    return all(abs(x - y) <= atol + rtol * abs(y) for x, y in zip(a.flat(), b.flat()))
