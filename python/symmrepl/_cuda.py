"""Maps memory of GPUs that other processes own, by the CUDA driver."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import Any, Dict, List

from .errors import TransferError

_POSIX_DESCRIPTOR = 1
_ON_DEVICE = 1
_READ_AND_WRITE = 3


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("kind", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


class Mapping:
    """Memory of a GPU, mapped into this process. It is unmapped when this object is gone, and not at the end of the process."""

    def __init__(self, driver: Driver, device: int, address: int, size: int) -> None:
        self.device = device
        """The number of the GPU among those that this process sees, as ``torch.device`` takes it."""
        self.address = address
        self._end = weakref.finalize(self, driver.unmap, device, address, size, os.getpid())
        self._end.atexit = False  # kernels of this process may still use the memory


class Driver:
    """The library libcuda. Each method raises TransferError if a call of the library fails."""

    def __init__(self) -> None:
        name = os.environ.get("SYMMREPL_CUDA") or "libcuda.so.1"
        try:
            self._library = ctypes.CDLL(name)
        except OSError as e:
            raise TransferError(f"this process cannot open the CUDA driver, {e}; device='cpu' gives a copy, which needs none") from None
        self._call("cuInit", 0)

    def _call(self, name: str, *arguments: Any) -> None:
        function = getattr(self._library, name, None)
        if function is None:
            raise TransferError(f"the CUDA driver of this process has no {name}: install a newer one, or take a copy, with device='cpu'")
        code = function(*arguments)
        if code:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(code, ctypes.byref(text))
            what = text.value.decode() if text.value else "an error"
            hint = "free memory of the GPU" if code == 2 else "`symmrepl doctor` says what this machine has"
            raise TransferError(f"{name} of the CUDA driver in this process: {what} ({code}): {hint}, or take a copy, with device='cpu'")

    def _gpus(self) -> List[str]:
        """Returns the UUIDs of the GPUs that this process sees."""
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        found = []
        for ordinal in range(count.value):
            device, uuid = ctypes.c_int(), ctypes.create_string_buffer(16)
            self._call("cuDeviceGet", ctypes.byref(device), ordinal)
            self._call("cuDeviceGetUuid_v2", uuid, device)
            digits = uuid.raw.hex()
            found.append("GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))
        return found

    def _can_access(self, device: int, peer: int) -> bool:
        """Reports whether a GPU can access the memory of another one."""
        yes = ctypes.c_int()
        self._call("cuDeviceCanAccessPeer", ctypes.byref(yes), device, peer)
        return bool(yes.value)

    def map(self, descriptor: int, size: int, gpu: str) -> Mapping:
        """Maps the memory of a descriptor, of the GPU with this UUID. The descriptor remains the caller's."""
        gpus = self._gpus()
        if gpu not in gpus:
            raise TransferError(
                f"the tensor is on the GPU {gpu}, which this process does not see: it sees {', '.join(gpus) or 'none'}; "
                "start it with a CUDA_VISIBLE_DEVICES that names that GPU, or take a copy, with device='cpu'"
            )
        device = gpus.index(gpu)
        handle, address, bytes = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t(size)
        # torch copies between GPUs that can access each other directly
        users = [device, *(d for d in range(len(gpus)) if d != device and self._can_access(d, device))]
        access = (_Access * len(users))(*(_Access(_ON_DEVICE, user, _READ_AND_WRITE) for user in users))
        zero, none = ctypes.c_size_t(0), ctypes.c_uint64(0)
        self._enter(device)
        done: List[str] = []
        try:
            self._call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), _POSIX_DESCRIPTOR)
            try:
                self._call("cuMemAddressReserve", ctypes.byref(address), bytes, zero, none, none)
                done.append("reserved")
                self._call("cuMemMap", address, bytes, zero, handle, none)
                done.append("mapped")
                self._call("cuMemSetAccess", address, bytes, access, ctypes.c_size_t(len(users)))
            finally:
                self._library.cuMemRelease(handle)  # the mapping keeps the memory
        except BaseException:
            if "mapped" in done:
                self._library.cuMemUnmap(address, bytes)
            if "reserved" in done:
                self._library.cuMemAddressFree(address, bytes)
            self._leave()
            self._release(device)
            raise
        self._leave()
        return Mapping(self, device, address.value, size)

    def unmap(self, device: int, address: int, size: int, process: int) -> None:
        """Unmaps memory when the work of this process on the GPU is done."""
        if process != os.getpid():  # a fork has no memory of GPUs
            return
        start, bytes = ctypes.c_uint64(address), ctypes.c_size_t(size)
        try:
            self._enter(device)
        except TransferError:  # at the end of the process the driver has unmapped the memory
            return
        self._library.cuCtxSynchronize()
        self._library.cuMemUnmap(start, bytes)
        self._library.cuMemAddressFree(start, bytes)
        self._leave()
        self._release(device)  # that of this call
        self._release(device)  # that of map

    def _enter(self, device: int) -> None:
        """Makes the GPU's primary context, which torch uses too, the current one of this thread."""
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        try:
            self._call("cuCtxPushCurrent_v2", context)
        except TransferError:
            self._release(device)
            raise

    def _leave(self) -> None:
        self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def _release(self, device: int) -> None:
        self._library.cuDevicePrimaryCtxRelease_v2(device)


_lock = threading.Lock()
_opened: Dict[str, Driver] = {}


def driver() -> Driver:
    """Returns the driver of this process, opened at the first call."""
    with _lock:
        return _opened.get("driver") or _opened.setdefault("driver", Driver())
