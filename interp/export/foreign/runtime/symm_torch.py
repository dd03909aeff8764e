"""Kernels of symm.cuh on PyTorch's symmetric memory.

A kernel takes a symm::Handle by value: one tensor of a group of ranks, with the address of every rank's copy of it, and
the words by which the ranks signal each other. This module fills the handle from what PyTorch's rendezvous returns,
compiles the kernels by NVRTC, and launches them on PyTorch's current stream.

    import symm_torch as symm

    symm.start()                                   # under torchrun
    x = symm.empty(torch.float32, 100)             # torch.distributed._symmetric_memory.empty, zeroed
    h = symm.rendezvous(x)
    source = symm.Source(CUDA_TEXT)
    total = source.kernel("sum", "symm::Handle", "float*", "int")
    total.launch((1,), (32,), h, out, 100)

It needs torch 2.11 or later and cuda-bindings 13 (or the release of the CUDA major version that torch was built for):

    pip install torch cuda-bindings
"""

import atexit
import ctypes
import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from cuda.bindings import driver, nvrtc

# The layouts of symm/handle.cuh and symm/context.cuh, version 1. A compiled module has its own numbers in symm_abi;
# Source compares them with these.

ABI_VERSION = 1
MAX_RANKS = 72
COUNTERS = 64
WATCH_BYTES = 5248
FAULT_AT = 64  # where a Watch has the record of the first wait that gave up

Pointers = ctypes.c_uint64 * MAX_RANKS


class Context(ctypes.Structure):
    """symm::Context."""

    _fields_ = [
        ("watch", ctypes.c_uint64),  # the page where a wait that gives up says so
        ("timeout_ns", ctypes.c_uint64),  # of each wait; 0: for ever
        ("rank", ctypes.c_int32),
        ("world_size", ctypes.c_int32),
        ("ordinal", ctypes.c_uint32),  # of the launch
        ("channels", ctypes.c_uint32),  # of the signal block
        ("swaps", ctypes.c_uint32),  # 0: put_signal loads and stores, which every link can do
        ("unannounced", ctypes.c_uint32),
    ]


class HandleStruct(ctypes.Structure):
    """symm::Handle."""

    _fields_ = [
        ("context", Context),
        ("bytes", ctypes.c_uint64),  # of the tensor
        ("pad_bytes", ctypes.c_uint64),  # of its signal pad
        ("buffers", Pointers),  # the tensor, by rank
        ("pads", Pointers),  # its signal pad, by rank
        ("signals", Pointers),  # the group's signal block, by rank
        ("net", ctypes.c_uint64),  # 0: all ranks share memory
        ("start", ctypes.c_uint64),
        ("window", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class WaitRecord(ctypes.Structure):
    """symm::WaitRecord: a wait that gave up."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("state", "kind", "ordinal", "rank", "peer", "channel")] + [
        (name, ctypes.c_uint64) for name in ("want", "seen", "elapsed", "began", "reserved")
    ]


# The process group.


class World:
    """The ranks of a process group, with the words by which they signal each other and the page of this rank's waits."""

    channels = 64  # for barriers and signals: a kernel with a barrier in every block has at most so many blocks

    def __init__(self, group, timeout):
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.size > MAX_RANKS:
            raise ValueError(f"symm::Handle has room for {MAX_RANKS} ranks, not {self.size}")
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.timeout = timeout
        self.launches = 0
        # Slots and arrivals by channel and rank, a count of rounds by channel, a word for waits that gave up, counters.
        words = (self.channels * (2 * self.size + 1) + 2) // 2 + COUNTERS
        self.signals = symm_mem.empty(words, dtype=torch.int64, device=self.device).zero_()
        self.watch = torch.zeros(WATCH_BYTES // 8, dtype=torch.int64, device=self.device)  # all 0: it never aborts
        torch.cuda.synchronize()
        self.signal_ptrs = addresses(self.signals, symm_mem.rendezvous(self.signals, group), self.rank)

    def context(self, timeout=None):
        """A symm::Context for the next launch. timeout is in seconds, 0 for ever."""
        self.launches += 1
        return Context(
            watch=self.watch.data_ptr(),
            timeout_ns=int((self.timeout if timeout is None else timeout) * 1e9),
            rank=self.rank,
            world_size=self.size,
            ordinal=self.launches & 0xFFFFFFFF,
            channels=self.channels,
        )

    def check(self):
        """Raises TimeoutError if a wait of this rank gave up. The stream must be at rest."""
        page = self.watch.cpu().numpy().tobytes()
        fault = WaitRecord.from_buffer_copy(page, FAULT_AT)
        if fault.state:
            raise TimeoutError(
                f"rank {fault.rank} waited {fault.elapsed / 1e9:.1f} s for rank {fault.peer} on channel {fault.channel}: "
                f"it saw {fault.seen} and wants {fault.want}; which rank did not launch its kernel?"
            )


_world = None


def start(timeout=30.0):
    """Joins the process group that torchrun describes and chooses this rank's GPU. timeout, in seconds, is that of each wait
    of a kernel; 0 is for ever. Without torchrun there is one rank. Ranks that share a GPU get a gloo process group."""
    global _world
    if _world is not None:
        return _world
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29512"}.items():
        os.environ.setdefault(name, value)
    local = int(os.environ.get("LOCAL_RANK", 0))
    gpus = torch.cuda.device_count()
    if gpus == 0:
        sys.exit("symm_torch: there is no GPU; `symmrepl run` runs the session on the emulated device")
    shared = int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"])) > gpus
    if shared:
        os.environ.setdefault("TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES", "1")
    torch.cuda.set_device(local % gpus)
    if not dist.is_initialized():
        if shared:
            dist.init_process_group("gloo")
        else:
            dist.init_process_group("nccl", device_id=torch.device("cuda", local % gpus))
        atexit.register(dist.destroy_process_group)
    _world = World(dist.group.WORLD, timeout)
    return _world


def rank():
    return start().rank


def world_size():
    return start().size


def meet():
    """Waits for this rank's stream, and then for all ranks."""
    synchronize()
    dist.barrier(start().group)


def synchronize():
    """Waits for this rank's streams. It raises TimeoutError if a wait gave up."""
    torch.cuda.synchronize()
    start().check()


# Tensors.


def empty(dtype, *shape):
    """A symmetric tensor of zeros: collective, with the same arguments on all ranks."""
    return symm_mem.empty(*(shape or (1,)), dtype=dtype, device=start().device).zero_()


def local(dtype, *shape):
    """A tensor of zeros in ordinary memory of the GPU."""
    return torch.zeros(shape or (1,), dtype=dtype, device=start().device)


def fill_from(tensor, values):
    """Sets the elements to those of a list or a tensor and returns the tensor."""
    if not isinstance(values, torch.Tensor):
        values = torch.tensor(values).to(tensor.dtype)
    tensor.view(-1).copy_(values.reshape(-1))
    return tensor


def arange(tensor):
    """Sets element i to i and returns the tensor."""
    return fill_from(tensor, torch.arange(tensor.numel(), device=tensor.device).to(tensor.dtype))


def rand(tensor, seed):
    """Sets the elements to values that depend on the seed and the index alone, the same as in the session, and returns the tensor:
    floats in [0, 1), integers from 0 to 127."""

    def shifted(z, bits):
        return (z >> bits) & ((1 << (64 - bits)) - 1)

    z = torch.arange(1, tensor.numel() + 1, device=tensor.device) * (0x9E3779B97F4A7C15 - (1 << 64)) + seed
    z = (z ^ shifted(z, 30)) * (0xBF58476D1CE4E5B9 - (1 << 64))
    z = (z ^ shifted(z, 27)) * (0x94D049BB133111EB - (1 << 64))
    z = z ^ shifted(z, 31)
    drawn = shifted(z, 40).to(torch.float32) * 2.0**-24 if tensor.is_floating_point() else shifted(z, 57)
    return fill_from(tensor, drawn.to(tensor.dtype))


def values(tensor):
    """The elements as a list of numbers."""
    synchronize()
    return tensor.reshape(-1).tolist()


def addresses(tensor, handle, rank):
    """The address of every rank's copy of a tensor. PyTorch's handle has the addresses of the allocation, in which the tensor lies
    at `offset`, and a view of it further on: at the same place on all ranks."""
    start = tensor.data_ptr() - handle.buffer_ptrs[rank]
    if start < 0:
        raise ValueError(f"the tensor at {tensor.data_ptr():#x} is not in its allocation at {handle.buffer_ptrs[rank]:#x}")
    return [base + start for base in handle.buffer_ptrs]


class Handle:
    """A tensor that all ranks have mapped. A kernel gets it for a symm::Handle."""

    def __init__(self, tensor):
        self.world = start()
        if not tensor.is_contiguous():
            raise ValueError("the tensor must be contiguous")
        torch.cuda.synchronize()  # what the tensor holds is complete before a peer may write to it
        self.tensor, self.torch = tensor, symm_mem.rendezvous(tensor, self.world.group)
        self.rank, self.world_size = self.torch.rank, self.torch.world_size
        self.buffer_ptrs = addresses(tensor, self.torch, self.rank)
        self.signal_pad_ptrs = list(self.torch.signal_pad_ptrs)
        self.signal_pad_size = self.torch.signal_pad_size

    def struct(self, timeout=None):
        """The symm::Handle for one launch."""
        h = HandleStruct(context=self.world.context(timeout), bytes=self.tensor.nbytes, pad_bytes=self.signal_pad_size)
        for peer in range(self.world_size):
            h.buffers[peer] = self.buffer_ptrs[peer]
            h.pads[peer] = self.signal_pad_ptrs[peer]
            h.signals[peer] = self.world.signal_ptrs[peer]
        return h

    def get_remote_tensor(self, peer):
        """A peer's copy of the tensor."""
        first = (self.buffer_ptrs[peer] - self.torch.buffer_ptrs[peer]) // self.tensor.element_size()
        copy = self.torch.get_buffer(peer, self.tensor.shape, self.tensor.dtype, first)
        if copy.data_ptr() != self.buffer_ptrs[peer]:
            raise RuntimeError(f"PyTorch's get_buffer({peer}) is at {copy.data_ptr():#x}, not at {self.buffer_ptrs[peer]:#x}")
        return copy

    def get_buffer(self, peer, dtype, *shape):
        """A tensor over a peer's memory, from the start of the allocation."""
        return self.torch.get_buffer(peer, shape, dtype)

    # One-sided operations and signals, in the order of the current stream. The signals are words of the tensor's pad, 64 bits each.

    def barrier(self, channel, timeout=None):
        """All ranks meet."""
        _barrier.launch((1,), (128,), self, channel, timeout=timeout)

    def put_signal(self, dst, channel, timeout=None):
        """Signals dst on a channel; waits until dst has consumed the signal before."""
        _put_signal.launch((1,), (1,), self, dst, channel, timeout=timeout)

    def wait_signal(self, src, channel, timeout=None):
        """Waits for the signal of src on a channel and consumes it."""
        _wait_signal.launch((1,), (1,), self, src, channel, timeout=timeout)

    def put(self, dst, src):
        """Copies src to the start of dst's copy of the tensor."""
        self.get_remote_tensor(dst).view(-1)[: src.numel()].copy_(src.reshape(-1))

    def get(self, src, dst):
        """Copies the start of src's copy of the tensor to dst."""
        dst.view(-1).copy_(self.get_remote_tensor(src).view(-1)[: dst.numel()])

    def put_with_signal(self, dst, src, signal, value):
        """Copies src to dst's copy of the tensor and then sets dst's signal."""
        _put_with_signal.launch((1,), (512,), self, dst, src, src.nbytes, signal, value)

    def signal_add(self, dst, signal, n):
        """Adds n to dst's signal."""
        _signal_add.launch((1,), (1,), self, dst, signal, n)

    def wait_for_signal(self, signal, compare, value, timeout=None):
        """Waits until this rank's signal is equal to a value ("=="), or not below it (">=")."""
        _wait_for_signal.launch((1,), (1,), self, signal, value, compare == ">=", timeout=timeout)

    def signal_words(self):
        """This rank's signals."""
        return self.torch.get_signal_pad(self.rank, dtype=torch.int64)

    def get_signal(self, signal):
        synchronize()
        return self.signal_words()[signal].item()

    def reset_signal(self, signal):
        self.signal_words()[signal].zero_()


def rendezvous(tensor):
    """Maps a symmetric tensor of all ranks: collective."""
    h = Handle(tensor)
    if testing:
        _check_handle(h)
    return h


# Kernels.

INCLUDE = pathlib.Path(__file__).resolve().parent / "symm_include"

POINTEES = {
    "half": torch.float16, "__nv_bfloat16": torch.bfloat16, "float": torch.float32, "double": torch.float64,
    "signed char": torch.int8, "unsigned char": torch.uint8, "short": torch.int16, "int": torch.int32, "long long": torch.int64,
    "unsigned": torch.uint32, "unsigned long long": torch.uint64,
}  # fmt: skip

NUMBERS = {
    "bool": ctypes.c_bool, "signed char": ctypes.c_int8, "unsigned char": ctypes.c_uint8, "short": ctypes.c_int16,
    "unsigned short": ctypes.c_uint16, "int": ctypes.c_int32, "unsigned": ctypes.c_uint32, "long long": ctypes.c_int64,
    "unsigned long long": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double,
}  # fmt: skip

SAME_SIZE = {torch.int32: torch.uint32, torch.uint32: torch.int32, torch.int64: torch.uint64, torch.uint64: torch.int64}


def call(result):
    """What a function of cuda.bindings returned beside its status. It raises RuntimeError if the status is an error."""
    status, *rest = result
    if status.value != 0:
        raise RuntimeError(f"{type(status).__name__}.{status.name}")
    return rest[0] if rest else None


class Source:
    """A CUDA C++ text with kernels. It is compiled when the first of them is launched."""

    def __init__(self, text, name="kernels.cu"):
        self.text, self.name = text, name
        self.kernels, self.module = [], None

    def kernel(self, name, *params):
        """A kernel of the text. params are the types of its parameters: symm::Handle, a number such as int, or a pointer."""
        k = Kernel(self, name, params)
        self.kernels.append(k)
        return k

    def compile(self, architecture):
        """The machine code for an architecture such as sm_90, and the names of the kernels in it."""
        text = f'#include "stdint.h"\n#include "symm.cuh"\n#include "symm/abi.cuh"\n#line 1 "{self.name}"\n{self.text}'
        program = call(nvrtc.nvrtcCreateProgram(text.encode(), self.name.encode(), 0, [], []))
        for k in self.kernels:
            call(nvrtc.nvrtcAddNameExpression(program, k.name.encode()))
        options = [f"--gpu-architecture={architecture}", "--std=c++17", f"--include-path={INCLUDE}"]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
        if status.value != 0:
            log = bytes(call(nvrtc.nvrtcGetProgramLogSize(program)))
            call(nvrtc.nvrtcGetProgramLog(program, log))
            raise RuntimeError(f"{self.name} does not compile:\n{log.rstrip(bytes(1)).decode()}")
        cubin = bytes(call(nvrtc.nvrtcGetCUBINSize(program)))
        call(nvrtc.nvrtcGetCUBIN(program, cubin))
        names = {k.name: call(nvrtc.nvrtcGetLoweredName(program, k.name.encode())) for k in self.kernels}
        call(nvrtc.nvrtcDestroyProgram(program))
        return cubin, names

    def function(self, kernel):
        """The loaded function of a kernel."""
        if self.module is None:
            torch.cuda.current_stream().synchronize()  # makes the context of the GPU current
            major, minor = torch.cuda.get_device_capability()
            cubin, self.lowered = self.compile(f"sm_{major}{minor}")
            self.module = call(driver.cuModuleLoadData(cubin))
            self.check_abi()
        return call(driver.cuModuleGetFunction(self.module, self.lowered[kernel.name]))

    def check_abi(self):
        """Compares the layouts that the module was compiled with to those of this file."""
        theirs = (ctypes.c_uint32 * 4)()
        status, address, size = driver.cuModuleGetGlobal(self.module, b"symm_abi")
        call((status,))
        if size == ctypes.sizeof(theirs):
            call(driver.cuMemcpyDtoH(ctypes.addressof(theirs), address, size))
        ours = [ABI_VERSION, ctypes.sizeof(Context), ctypes.sizeof(HandleStruct), MAX_RANKS]
        if list(theirs) != ours:
            raise RuntimeError(f"{self.name} was compiled with version and sizes {list(theirs)} of symm::Handle, symm_torch.py has {ours}: export them again, together")


class Kernel:
    """A __global__ function of a Source."""

    def __init__(self, source, name, params):
        self.source, self.name, self.params = source, name, params
        self.loaded, self.shared = None, 48 << 10

    def launch(self, grid, block, *args, shared=0, timeout=None, stream=None):
        """Launches the kernel on a stream, by default the current one. grid and block have one to three dimensions; shared is
        the dynamic shared memory of a block in bytes, timeout the seconds after which a wait for a peer gives up."""
        if len(args) != len(self.params):
            raise TypeError(f"{self.name} takes {len(self.params)} arguments, not {len(args)}")
        values = [self.argument(i, a, timeout) for i, a in enumerate(args)]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        if self.loaded is None:
            self.loaded = self.source.function(self)
        if shared > self.shared:
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call(driver.cuFuncSetAttribute(self.loaded, attribute, shared))
            self.shared = shared
        stream = (stream or torch.cuda.current_stream()).cuda_stream
        call(driver.cuLaunchKernel(self.loaded, *three(grid), *three(block), shared, stream, ctypes.addressof(pointers), 0))

    def argument(self, i, value, timeout):
        """An argument as the C value that cuLaunchKernel copies."""
        param = self.params[i]
        if param == "symm::Handle" and isinstance(value, Handle):
            return value.struct(timeout)
        if param.endswith("*") and isinstance(value, torch.Tensor):
            want = POINTEES.get(param[:-1])
            if not value.is_cuda or not value.is_contiguous():
                raise TypeError(f"argument {i + 1} of {self.name}: the tensor must be contiguous and on the GPU")
            if want not in (None, torch.uint8, value.dtype, SAME_SIZE.get(value.dtype)):
                raise TypeError(f"argument {i + 1} of {self.name}, {param}, cannot be a tensor of {value.dtype}")
            return ctypes.c_uint64(value.data_ptr())
        if param.endswith("*") and isinstance(value, int):
            return ctypes.c_uint64(value)
        if param in NUMBERS and isinstance(value, (int, float)):
            return number(NUMBERS[param], value, f"argument {i + 1} of {self.name}, {param}")
        if param in ("half", "__nv_bfloat16") and isinstance(value, (int, float)):
            return ctypes.c_uint16(torch.tensor(value, dtype=POINTEES[param]).view(torch.uint16).item())
        raise TypeError(f"argument {i + 1} of {self.name}, {param}, cannot be {value!r}")


def number(ctype, value, what):
    """A number as a C value. An integer type takes integers that fit only."""
    if ctype in (ctypes.c_float, ctypes.c_double):
        return ctype(value)
    if value != int(value) or ctype(int(value)).value != int(value):
        raise TypeError(f"{what}, cannot be {value}: it does not fit")
    return ctype(int(value))


def three(dimensions):
    return (*dimensions, 1, 1)[:3]


# The operations of a handle, as kernels.

_operations = Source((INCLUDE / "symm_operations.cu").read_text(), "symm_operations.cu")
_barrier = _operations.kernel("barrier", "symm::Handle", "unsigned")
_put_signal = _operations.kernel("put_signal", "symm::Handle", "int", "unsigned")
_wait_signal = _operations.kernel("wait_signal", "symm::Handle", "int", "unsigned")
_put_with_signal = _operations.kernel("put_with_signal", "symm::Handle", "int", "void*", "unsigned long long", "unsigned", "unsigned long long")
_signal_add = _operations.kernel("signal_add", "symm::Handle", "int", "unsigned", "unsigned long long")
_wait_for_signal = _operations.kernel("wait_for_signal", "symm::Handle", "unsigned", "unsigned long long", "bool")
_get = _operations.kernel("get", "symm::Handle", "int", "void*", "unsigned long long")


# Collectives, by torch.distributed. gloo works on the host's memory.

_OPERATORS = {"sum": dist.ReduceOp.SUM, "avg": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}


def _travelling(tensor):
    synchronize()
    return tensor.cpu() if dist.get_backend(start().group) == "gloo" else tensor.clone()


def all_reduce(tensor, op):
    """The tensors of all ranks, combined element by element."""
    t = _travelling(tensor)
    if tensor.dtype in (torch.float16, torch.bfloat16):
        t = t.float()
    dist.all_reduce(t, _OPERATORS[op], group=start().group)
    if op == "avg":
        t = t / world_size()
    return t.to(tensor.device).to(tensor.dtype)


def all_gather(tensor):
    """The tensors of all ranks, one after the other."""
    t = _travelling(tensor)
    parts = [torch.empty_like(t) for _ in range(world_size())]
    dist.all_gather(parts, t, group=start().group)
    return torch.cat(parts).to(tensor.device)


def reduce_scatter(tensor, op):
    """This rank's part of the tensors of all ranks, combined; the first dimension is split."""
    return all_reduce(tensor, op).chunk(world_size())[rank()].clone()


def all_to_all(tensor):
    """The parts of all ranks' tensors that are for this rank; the first dimension is split."""
    return torch.cat([t.chunk(world_size())[rank()] for t in all_gather(tensor).chunk(world_size())])


def broadcast(tensor, root):
    """Gives every rank the root's values, in place."""
    t = _travelling(tensor)
    dist.broadcast(t, root, group=start().group)
    return tensor.copy_(t)


def all_close(a, b):
    """Whether two tensors have nearly the same elements."""
    synchronize()
    return torch.allclose(a.reshape(-1).double(), b.reshape(-1).double(), rtol=1e-5 if a.dtype == torch.float32 else 1e-2, atol=1e-6)


# Go's integer division, which rounds towards zero.


def quotient(a, b):
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def remainder(a, b):
    return a - b * quotient(a, b)


# What the module that imports this one prints and checks.

testing = False
_checks, _failures = 0, []


def println(*values):
    """Prints a line with the number of the rank."""
    print(f"[{rank()}]", *values, flush=True)


def show(*values):
    """Prints the value of a cell's last expression. In a test a bool is a check."""
    for value in values:
        if isinstance(value, bool) and testing:
            check(value, "a cell ends with False")
    println(*values)


def check(right, what):
    """Notes a check of the test."""
    global _checks
    _checks += 1
    if not right:
        _failures.append(what)
        print(f"[{rank()}] WRONG: {what}", flush=True)


def _check_handle(h):
    """Compares what a kernel reads through a handle with what torch.distributed brings, and that after barriers of kernels only."""
    kept = h.tensor.clone()
    as_bytes = h.tensor.view(-1).view(torch.uint8)
    pattern = torch.arange(as_bytes.numel(), device=as_bytes.device) * 31 + (7 * h.rank + 1)
    as_bytes.copy_((pattern & 255).to(torch.uint8))
    h.barrier(0)
    copies = [torch.empty_like(as_bytes) for _ in range(h.world_size)]
    for peer, copy in enumerate(copies):
        _get.launch((1,), (256,), h, peer, copy, copy.nbytes)
    h.barrier(0)
    want = all_gather(as_bytes).view(h.world_size, -1)
    for peer, copy in enumerate(copies):
        check(torch.equal(copy, want[peer]), f"the handle of a tensor of {h.tensor.nbytes} bytes: the copy of rank {peer}")
    right, left = (h.rank + 1) % h.world_size, (h.rank - 1) % h.world_size
    h.put_signal(right, 1)
    h.wait_signal(left, 1)
    h.tensor.copy_(kept)
    h.barrier(0)
    synchronize()


def main(run):
    """Runs the cells of a module; with --test on the command line it counts what is right and wrong and exits with status 1 if
    anything is wrong on any rank."""
    global testing
    testing = "--test" in sys.argv[1:]
    start()
    run()
    meet()
    if not testing:
        return
    wrong = all_reduce(torch.tensor([len(_failures)], device=start().device), "sum").item()
    if rank() == 0:
        print(f"{world_size()} ranks: " + (f"{wrong} checks are WRONG" if wrong else f"all {_checks} checks of each rank are right"), flush=True)
    sys.exit(1 if wrong else 0)
