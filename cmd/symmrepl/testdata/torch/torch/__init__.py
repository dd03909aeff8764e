"""As much of torch as the benchmark's peers call, on a machine without one: tensors have a shape and no elements, and time is the clock's.

FAKE_GPUS is how many GPUs there are. torch.ops.symm_mem has the operations of an old version only.
"""

import contextlib
import os
import time
from types import SimpleNamespace

__version__ = "0-fake"


class Tensor:
    def __init__(self, *shape, value=1, dtype=None):
        self.shape, self.value, self.dtype = shape, value, dtype

    def fill_(self, value):
        self.value = value
        return self

    def copy_(self, other):
        assert self.shape == other.shape, (self.shape, other.shape)

    def item(self):
        return self.value

    @property
    def T(self):
        return Tensor(*self.shape[::-1], dtype=self.dtype)

    def __getitem__(self, at):
        rows, columns = at
        return Tensor(len(range(self.shape[0])[rows]), len(range(self.shape[1])[columns]), dtype=self.dtype)


def ones(*shape, device, dtype):
    assert device == "cuda" and all(n > 0 for n in shape)
    return Tensor(*shape, dtype=dtype)


def zeros(*shape, device):
    return Tensor(*shape, value=0)


def tensor(values, device, dtype):
    return Tensor(len(values), value=values[0], dtype=dtype)


def mm(a, b, out):
    assert a.shape[1] == b.shape[0] and out.shape == (a.shape[0], b.shape[1])
    return out


def device(kind, index):
    return f"{kind}:{index}"


for name, size in [("float16", 2), ("bfloat16", 2), ("float32", 4), ("float64", 8), ("uint32", 4), ("int32", 4), ("int64", 8)]:
    globals()[name] = SimpleNamespace(itemsize=size)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = time.perf_counter()

    def elapsed_time(self, end):
        return max(end.at - self.at, 1e-9) * 1e3


class CUDAGraph:
    def replay(self):
        pass


cuda = SimpleNamespace(
    device_count=lambda: int(os.environ["FAKE_GPUS"]),
    set_device=lambda device: None,
    current_device=lambda: int(os.environ["LOCAL_RANK"]),
    synchronize=lambda: None,
    Event=Event,
    CUDAGraph=CUDAGraph,
    Stream=object,
    graph=lambda g: contextlib.nullcontext(),
    stream=lambda s: contextlib.nullcontext(),
)


def one_shot_all_reduce_out(t, op, group, out):
    assert op == "sum" and t.shape == out.shape


ops = SimpleNamespace(symm_mem=SimpleNamespace(one_shot_all_reduce_out=one_shot_all_reduce_out))
