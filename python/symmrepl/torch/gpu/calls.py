"""Notes the calls that a program makes on GPUs. The functions of PyTorch that are replaced here do the same as before."""

from __future__ import annotations

import contextlib
import sys
import weakref
from types import CodeType, FrameType
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _SymmetricMemory
from torch.distributed import distributed_c10d as c10d

from ...emulator import lines
from . import pads
from .queue import Enqueued, Event, Queue

_COMPOSED = ("fused_", "_fused_", "_low_contention_", "_async_input_mm")
"""The beginnings of names of operators that call others, and the methods of handles, which are noted."""

_ALONE = {"memset32_", "stream_write_value32_", "get_remote_tensors", "_rendezvous"}
"""Operators that wait for no other rank."""


class Met(NamedTuple):
    """What is known of a handle since its rendezvous: the name of the group, and the bytes of a signal pad."""

    group: Optional[str]
    pad: int


queues: Dict[Tuple[int, int], Queue] = {}
"""By device and stream."""

_captured: List[Enqueued] = []  # by the graph that is being captured
_inside: weakref.WeakKeyDictionary[Any, List[Enqueued]] = weakref.WeakKeyDictionary()  # by graph
_names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()  # of the kernels of torch.cuda._compile_kernel
_met: weakref.WeakKeyDictionary[Any, Met] = weakref.WeakKeyDictionary()  # by handle
_programs: Dict[int, Tuple[CodeType, bool]] = {}  # by identity, as a code's own hash takes long: the code, and whether it is the program's
_installed = False


def install() -> None:
    """Notes all calls from now on. A program without GPUs is not affected."""
    global _installed
    if _installed:
        return
    _installed = True
    if torch.cuda.is_initialized():  # the program may have handles already
        pads.prepare(torch.cuda.current_device())
    for name in ("put_signal", "wait_signal"):
        setattr(_SymmetricMemory, name, _signal(name, getattr(_SymmetricMemory, name)))
    setattr(_SymmetricMemory, "barrier", _barrier(_SymmetricMemory.barrier))
    _SymmetricMemory.rendezvous = staticmethod(_rendezvous(_SymmetricMemory.rendezvous))
    for operator, schema in list(_operators()):
        operator._op = _Noted(operator._op, schema)
    _kernels()
    _graphs()


def enqueue(call: Enqueued) -> Enqueued:
    """Notes a call that is about to be made on the current stream."""
    device = torch._C._cuda_getDevice()
    raw = torch._C._cuda_getCurrentRawStream(device)
    q = queues.get((device, raw))
    if q is None:
        q = queues[device, raw] = Queue(_marker(torch.cuda.current_stream(device)))
    if not q.add(call):
        _captured.append(call)
    return call


def moves() -> int:
    """Returns a number that grows with each call."""
    return sum(q.count for q in list(queues.values()))


def handle_of(call: Enqueued) -> Any:
    """Returns the handle by whose pad the ranks meet in a call; None if it is not known. It must not be the main thread that asks."""
    on = None if call.on is None else call.on()
    if not isinstance(on, torch.Tensor):
        return on
    if not call.made or _SymmetricMemory.get_backend(on.device) != "CUDA":
        return None
    return _SymmetricMemory.rendezvous(on, call.group or None)  # the operator has made it: nobody is waited for


def pad_of(handle: Any) -> int:
    """Returns the bytes of a handle's signal pad."""
    return _met[handle].pad if handle in _met else int(handle.get_signal_pad(handle.rank).nbytes)


def members_of(handle: Any) -> List[int]:
    """Returns the world ranks of a handle's group."""
    try:
        return list(dist.get_process_group_ranks(c10d._resolve_process_group(_met[handle].group)))
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError):
        return list(range(handle.world_size))


def _marker(stream: torch.cuda.Stream) -> Callable[[], Optional[Event]]:
    def mark() -> Optional[Event]:
        if torch._C._cuda_isCurrentStreamCapturing():
            return None
        event = torch.cuda.Event()
        event.record(stream)
        return event

    return mark


def _place() -> Tuple[Optional[CodeType], int]:
    """Returns the code of the program and the line from which a function here was called."""
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        known = _programs.get(id(code))
        if known is None:
            known = _programs[id(code)] = (code, lines.program_frame(frame) is frame)
        if known[1]:
            return code, frame.f_lineno
        frame = frame.f_back
    return None, 0


def _rendezvous(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def rendezvous(tensor: torch.Tensor, group_name: Optional[str] = None) -> Any:
        handle = theirs(tensor, group_name)
        if tensor.is_cuda:
            _met[handle] = Met(group_name, handle.get_signal_pad(handle.rank).nbytes)
            pads.prepare(tensor.device.index)
        return handle

    return rendezvous


def _barrier(theirs: Callable[..., Any]) -> Callable[..., Any]:
    def barrier(self: Any, channel: int = 0, timeout_ms: int = 0) -> Any:
        enqueue(Enqueued("barrier", _place(), weakref.ref(self), channel=channel))
        return theirs(self, channel, timeout_ms)

    return barrier


def _signal(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    def signal(self: Any, rank: int, channel: int, timeout_ms: int, place: Any) -> Any:
        enqueue(Enqueued(name, place, weakref.ref(self), peer=rank, channel=channel))
        return theirs(self, rank, channel, timeout_ms)

    def put_signal(self: Any, dst_rank: int, channel: int = 0, timeout_ms: int = 0) -> Any:
        return signal(self, dst_rank, channel, timeout_ms, _place())

    def wait_signal(self: Any, src_rank: int, channel: int = 0, timeout_ms: int = 0) -> Any:
        return signal(self, src_rank, channel, timeout_ms, _place())

    return put_signal if name == "put_signal" else wait_signal


def _operators() -> Iterator[Tuple[Any, Any]]:
    """Yields the operators in which ranks may wait for each other: what a program calls, and its schema."""
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        library, _, name = full.partition("::")
        if library == "symm_mem" and not name.startswith(_COMPOSED) and name not in _ALONE:
            word, _, overload = name.partition(".")
            packet = getattr(torch.ops.symm_mem, word)
            one = getattr(packet, overload or "default")
            yield packet, one._schema
            yield one, one._schema


class _Noted:
    """An operator of PyTorch's in C++, which notes that it is called. It stands for the other in all else."""

    # A kernel of Python in the dispatcher would see the calls, too, but it takes 20 µs for each.

    def __init__(self, op: Any, schema: Any) -> None:
        self._op, self._name = op, schema.name.partition("::")[2]
        self._group = next((i for i, a in enumerate(schema.arguments) if a.name in ("group_name", "group")), -1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else None
        if type(first) is not torch.Tensor or not first.is_cuda:
            return self._op(*args, **kwargs)
        named = args[self._group] if 0 <= self._group < len(args) else kwargs.get("group_name", "")
        call = Enqueued(self._name, _place(), weakref.ref(first), group=named if isinstance(named, str) else "")
        enqueue(call)
        out = self._op(*args, **kwargs)
        call.made = True
        return out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)

    def __hash__(self) -> int:
        return hash(self._op)  # operators are keys by it


def _kernels() -> None:
    """Notes launches of the kernels of torch.cuda._compile_kernel, which has a class for them."""
    try:
        from torch.cuda._utils import _CudaKernel
    except ImportError:
        return
    theirs, compiled = _CudaKernel.__call__, torch.cuda._compile_kernel

    def launch(self: Any, grid: Any = (1, 1, 1), block: Any = (1, 1, 1), args: Any = None, shared_mem: int = 0, stream: Any = None) -> None:
        call = Enqueued(_names.get(self, "of torch.cuda._compile_kernel"), _place())
        with contextlib.nullcontext() if stream is None else torch.cuda.stream(stream):
            enqueue(call)
        theirs(self, grid, block, args, shared_mem, stream)

    def compile_kernel(kernel_source: str, kernel_name: str, *args: Any, **kwargs: Any) -> Any:
        kernel = compiled(kernel_source, kernel_name, *args, **kwargs)
        _names[kernel] = kernel_name
        return kernel

    _CudaKernel.__call__ = launch
    torch.cuda._compile_kernel = compile_kernel


def _graphs() -> None:
    graph = torch.cuda.CUDAGraph
    begin, end, theirs = graph.capture_begin, graph.capture_end, graph.replay

    def capture_begin(self: Any, *args: Any, **kwargs: Any) -> None:
        _captured.clear()
        begin(self, *args, **kwargs)

    def capture_end(self: Any) -> None:
        end(self)
        _inside[self] = list(_captured)
        _captured.clear()

    def replay(self: Any) -> None:
        within = _inside.get(self)
        if within:
            enqueue(Enqueued("a replay of a graph", _place())).within = within
        theirs(self)

    for function in (capture_begin, capture_end, replay):
        function.__doc__ = getattr(graph, function.__name__).__doc__
        setattr(graph, function.__name__, function)
