"""The emulated device of this process, by the C interface of symmem/internal/cpu/emu/api.h."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import shutil
import struct
import tempfile
import time
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import sanitize, watch
from .companion import Companion, Parameter
from .errors import KernelFault, LaunchError, Refused, Unavailable, WaitTimeout

WATCH_BYTES = 5248
"""The size of symm::Watch, the page by which the waits of kernels communicate with the host."""
_FAULT_AT = 64  # where the page has the record of the first wait that gave up
_RECORD = struct.Struct("<6I5Q")  # symm::WaitRecord
_REFUSED = 5  # a state of a record: a kernel refused a value
_WAITS_AT, _MOST_WAITS = 128, 64  # where it has the records of waits that last for a while, and their number
_PENDING = 1  # the state of such a record

MAX_GRID, MAX_BLOCK, MAX_THREADS = (2**31 - 1, 65535, 65535), (1024, 1024, 64), 1024
"""The most blocks of a grid and threads of a block in each dimension, and threads of a block, as on GPUs."""

MAX_SHARED = 227 << 10
"""The most bytes of dynamic shared memory of a block."""


class _Kernel(ctypes.Structure):
    """emu_kernel."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("param_count", ctypes.c_uint32),
        ("params", ctypes.POINTER(ctypes.c_uint32)),  # the offset and the size of each
        ("argument_bytes", ctypes.c_uint32),
        ("entry", ctypes.c_void_p),
    ]


class _Shape(ctypes.Structure):
    """emu_shape."""

    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint32)]


class _Fault(ctypes.Structure):
    """emu_fault."""

    _fields_ = [
        ("kernel", ctypes.c_char * 256),
        ("library", ctypes.c_char * 1024),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("signal", ctypes.c_int32),
        ("signal_code", ctypes.c_int32),
        ("write", ctypes.c_int32),
        ("stack", ctypes.c_int32),
        ("shared", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("frames", ctypes.c_uint64 * 16),
        ("text", ctypes.c_char * 200),
        ("file", ctypes.c_char * 200),
        ("line", ctypes.c_int32),
    ]


_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "emu_device_open": (ctypes.c_void_p, [ctypes.c_void_p]),
    "emu_device_close": (None, [ctypes.c_void_p]),
    "emu_module_load": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]),
    "emu_module_close": (None, [ctypes.c_void_p]),
    "emu_module_kernel": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(_Kernel)]),
    "emu_stream_open": (ctypes.c_void_p, [ctypes.c_void_p]),
    "emu_stream_close": (None, [ctypes.c_void_p]),
    "emu_stream_launch": (
        None,
        [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(_Shape), ctypes.c_char_p, ctypes.c_size_t],
    ),
    "emu_stream_synchronize": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Fault)]),
    "emu_stream_idle": (ctypes.c_int, [ctypes.c_void_p]),
    "emu_guard": (ctypes.c_int, [ctypes.c_size_t, ctypes.c_size_t]),
    "emu_unguard": (None, [ctypes.c_int]),
}


class Kernel(NamedTuple):
    """A kernel of a module. params has offset and size of each parameter, bytes the size of all."""

    name: str
    module: Module
    entry: int
    params: List[Tuple[int, int]]
    bytes: int


class Module:
    """A loaded library of kernels. Two modules of one library have variables of their own."""

    def __init__(self, device: Device, path: str, name: str, line: int, text: str) -> None:
        error = ctypes.c_char_p()
        with _copy(path) as private:
            self.handle = device.library.emu_module_load(private.encode(), ctypes.byref(error))
        if not self.handle:
            raise Unavailable(f"{path} cannot be loaded: {(error.value or b'').decode(errors='replace')}")
        if device.sanitizer is not None:
            device.sanitizer.module(self.handle, path, name, line, text)
        self.kernels: Dict[str, Kernel] = {}
        found = _Kernel()
        while device.library.emu_module_kernel(self.handle, len(self.kernels), ctypes.byref(found)):
            params = [(found.params[2 * i], found.params[2 * i + 1]) for i in range(found.param_count)]
            name = found.name.decode()
            self.kernels[name] = Kernel(name, self, found.entry, params, found.argument_bytes)


@contextlib.contextmanager
def _copy(path: str) -> Iterator[str]:
    """Gives the path of a copy of a library, which is loaded as a library of its own."""
    try:
        descriptor, private = tempfile.mkstemp(".so", "loading-", os.path.dirname(path))
        with open(path, "rb") as source, open(descriptor, "wb") as copy:
            shutil.copyfileobj(source, copy)
    except OSError as e:
        raise Unavailable(f"{path} cannot be loaded: {e}") from e
    try:
        yield private
    finally:
        os.unlink(private)


class Device:
    """The device of this process. Launches run one after the other, and end before `launch` returns.

    A process has one device: its first use after a fork raises Unavailable in the child, because the threads that
    run kernels belong to the parent.
    """

    def __init__(self, companion: Optional[Companion] = None) -> None:
        self.companion = companion or Companion()
        path = self.companion.emulator()
        try:
            self.library = ctypes.CDLL(path)
        except OSError as e:
            raise Unavailable(f"the emulated device cannot be loaded: {e}") from e
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        self._page = mmap.mmap(-1, WATCH_BYTES)
        self.watch = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        """The address of this process's symm::Watch."""
        self._device = self.library.emu_device_open(self.watch)
        try:
            self.sanitizer = sanitize.watch(self.library, self._device)
        except BaseException:
            self.library.emu_device_close(self._device)  # before its page is gone
            raise
        """The sanitizer, if this process is watched."""
        self._stream = self.library.emu_stream_open(self._device)
        self._owner = os.getpid()
        self._operations: Dict[str, Kernel] = {}
        self._layouts: Optional[Dict[str, Any]] = None
        self._ordinal = 0
        self._broken: Optional[str] = None
        weakref.finalize(self, _close, self.library, self._device, self._stream, self._owner, self.sanitizer)
        watch.device_opened(self)

    def load(self, path: str, name: str = "", line: int = 1, text: str = "") -> Module:
        """Loads a library of kernels, which stays loaded until this process ends.

        name and line are the place of its text in the program; without a name, findings of the sanitizer are at the launch.
        """
        return Module(self, path, name, line, text)

    def compile(
        self, text: str, name: str = "kernel.cu", line: int = 1, instances: Sequence[str] = ()
    ) -> Dict[str, Tuple[Kernel, List[Parameter]]]:
        """Compiles a text of CUDA C++ and returns its kernels with their parameters, by name. Errors: CompileError.

        Findings of the sanitizer in a text whose name begins with ``symmrepl.``, this package's, are at the launch.
        """
        library = self.companion.kernels(text, name, line, instances, self.sanitizer is not None)
        module = self.load(library.path) if name.startswith("symmrepl.") else self.load(library.path, name, line, text)
        return {name: (module.kernels[name], parameters) for name, parameters in library.kernels.items()}

    def operation(self, name: str) -> Kernel:
        """Returns a kernel of this project, such as ``pull_reduce_f32``."""
        if name not in self._operations:
            self._operations[name] = self.load(self.companion.operation(name, self.sanitizer is not None)).kernels[name]
        return self._operations[name]

    def pack(self, struct_name: str, **fields: Any) -> bytes:
        """Returns a struct of this project's kernels.

        A field is a number, a list of numbers of 64 bits, or bytes. The other fields are 0.
        """
        if self._layouts is None:
            self._layouts = self.companion.layouts()
        layout = self._layouts[struct_name]
        out = bytearray(layout["size"])
        for name, value in fields.items():
            at, size = layout["fields"][name]["offset"], layout["fields"][name]["size"]
            if isinstance(value, int):
                value = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
            elif not isinstance(value, (bytes, bytearray)):
                value = struct.pack(f"<{len(value)}Q", *value)
            if len(value) > size:
                raise ValueError(f"{struct_name}.{name} has {size} bytes, not {len(value)}")
            out[at : at + len(value)] = value
        return bytes(out)

    def context(self, rank: int, world_size: int, timeout: float = 0, channels: int = 0) -> bytes:
        """Returns a symm::Context for the next launch. timeout is the limit of each wait in seconds, 0 for ever."""
        self._ordinal += 1
        return struct.pack("<QQiiIIII", self.watch, int(timeout * 1e9), rank, world_size, self._ordinal & 0xFFFFFFFF, channels, 1, 0)

    def launch(
        self,
        kernel: Kernel,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: bytes,
        shared: int = 0,
        call: Optional[watch.Call] = None,
    ) -> None:
        """Runs a kernel to its end. arguments are the bytes of all its parameters, shared those of dynamic shared memory.

        call is the operation of which the kernel is a part; without it the kernel is the program's own.

        Errors: LaunchError before anything runs; KernelFault; WaitTimeout. An exception of Python that comes meanwhile,
        such as KeyboardInterrupt, ends the waits of the kernel first.
        """
        if os.getpid() != self._owner:
            raise Unavailable("this process was forked from the one that opened the device: open it later, or start processes by spawn")
        if self._broken is not None:
            raise KernelFault(f"the device of this process is of no use after the fault before: {self._broken}")
        if len(arguments) != kernel.bytes:
            raise LaunchError(f"{kernel.name} takes {kernel.bytes} bytes of arguments, not {len(arguments)}")
        for what, values, most in (("grid", grid, MAX_GRID), ("block", block, MAX_BLOCK)):
            if len(values) != 3 or not all(1 <= n <= m for n, m in zip(values, most)):
                raise LaunchError(f"{kernel.name}: the {what} is {tuple(values)}: it has three numbers from 1 to {most}")
        if block[0] * block[1] * block[2] > MAX_THREADS:
            raise LaunchError(f"{kernel.name}: a block {tuple(block)} has more than {MAX_THREADS} threads")
        if not 0 <= shared <= MAX_SHARED:
            raise LaunchError(f"{kernel.name}: {shared} bytes of shared memory: at most {MAX_SHARED} are possible")
        if self.sanitizer is not None:
            self.sanitizer.calling()
        shape = _Shape((ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block), shared)
        with call or watch.Call(kernel.name, own=True):
            self.library.emu_stream_launch(self._stream, kernel.module.handle, kernel.entry, ctypes.byref(shape), arguments, len(arguments))
            try:
                self._finish(kernel)
            finally:
                if self.sanitizer is not None:
                    self.sanitizer.collect()

    def pending(self) -> List[watch.Record]:
        """Returns the waits of kernels that last for a while. It may be called at any time, in any thread."""
        records = []
        for at in range(_WAITS_AT, _WAITS_AT + _MOST_WAITS * _RECORD.size, _RECORD.size):
            state, kind, _, rank, peer, channel, want, seen, elapsed, began, _ = _RECORD.unpack_from(self._page, at)
            if state == _PENDING:
                records.append({"kind": kind, "rank": rank, "peer": peer, "channel": channel, "want": want, "seen": seen,
                                "elapsed": elapsed, "began": began})  # fmt: skip
        return records

    def _finish(self, kernel: Kernel) -> None:
        try:
            began = collected = time.monotonic()
            while not self.library.emu_stream_idle(self._stream):
                now = time.monotonic()
                passed = now - began
                if passed > 0.0005:  # a thread of Python that polls takes time from kernels
                    time.sleep(min(passed / 10, 0.01))
                if self.sanitizer is not None and now - collected > 0.1:  # the kernel may hang
                    self.sanitizer.collect()
                    collected = now
        except BaseException:
            self._page[0] |= 1  # symm::kAbort
            self._synchronize(kernel)
            self._page[:] = bytes(WATCH_BYTES)
            raise
        self._synchronize(kernel)
        state, kind, _, rank, peer, channel, want, seen, elapsed, _, _ = _RECORD.unpack_from(self._page, _FAULT_AT)
        if state:
            self._page[:] = bytes(WATCH_BYTES)
            if state == _REFUSED:
                raise Refused(kernel.name, kind, peer, channel, seen, want)
            raise WaitTimeout(
                f"{kernel.name} on rank {rank} waited {elapsed / 1e9:.3g} s for rank {peer} on channel {channel}: "
                f"it saw {seen} and wants {want}",
                peer,
                channel,
            )

    def _synchronize(self, kernel: Kernel) -> None:
        fault = _Fault()
        if self.library.emu_stream_synchronize(self._stream, ctypes.byref(fault)):
            self._broken = f"{kernel.name}: {_described(fault)}"
            raise KernelFault(self._broken)


def _described(fault: _Fault) -> str:
    """Returns the sentence that names a fault."""
    where = f"in thread {tuple(fault.thread)} of block {tuple(fault.block)}"
    if fault.text:
        place = f" at {fault.file.decode(errors='replace')}:{fault.line}" if fault.line else ""
        return f"{fault.text.decode(errors='replace')}{place} {where}"
    if fault.stack:
        return f"the stack overflows {where}"
    if fault.address:
        return f"a {'write to' if fault.write else 'read of'} address {fault.address:#x}, which is no memory of the kernel's, {where}"
    return f"signal {fault.signal} {where}"


def _close(library: Any, device: int, stream: int, owner: int, sanitizer: Optional[sanitize.Sanitizer]) -> None:
    if os.getpid() == owner:
        if sanitizer is not None:
            sanitizer.end()
        library.emu_stream_close(stream)
        library.emu_device_close(device)
