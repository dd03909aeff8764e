"""The calls of CUDA's driver that a look at a standing stream takes.

They are made by ctypes, which holds no lock of Python meanwhile: the driver may make a caller wait until the GPU is
done, such as while a kernel is loaded, and the program must not stand for that.
"""

from __future__ import annotations

import ctypes
from typing import Any, Optional

_CAPTURE_NONE = 0
_SUCCESS = 0


class Event:
    """An event made here. Like PyTorch's it has its handle in cuda_event."""

    def __init__(self, handle: int) -> None:
        self.cuda_event = handle


class Driver:
    """The driver that PyTorch has loaded. Errors of its calls read as "not yet"."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        for function, arguments in (
            ("cuEventQuery", [ctypes.c_void_p]),
            ("cuEventCreate", [ctypes.c_void_p, ctypes.c_uint]),
            ("cuEventRecord", [ctypes.c_void_p, ctypes.c_void_p]),
            ("cuStreamIsCapturing", [ctypes.c_void_p, ctypes.c_void_p]),
            ("cuMemcpyDtoHAsync_v2", [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]),
        ):
            getattr(self._library, function).argtypes = arguments

    def over(self, event: Any) -> bool:
        """Reports whether a stream is behind an event."""
        return bool(self._library.cuEventQuery(event.cuda_event) == _SUCCESS)

    def mark(self, stream: int) -> Optional[Event]:
        """Returns an event behind all that is on a stream; None while the stream is captured."""
        status, handle = ctypes.c_int(), ctypes.c_void_p()
        if self._library.cuStreamIsCapturing(stream, ctypes.byref(status)) != _SUCCESS or status.value != _CAPTURE_NONE:
            return None
        if self._library.cuEventCreate(ctypes.byref(handle), 2) != _SUCCESS or handle.value is None:  # without times
            return None
        return Event(handle.value) if self._library.cuEventRecord(handle, stream) == _SUCCESS else None

    def copy(self, to: int, source: int, size: int, stream: int) -> bool:
        """Copies bytes of the device to memory of the host, on a stream."""
        return bool(self._library.cuMemcpyDtoHAsync_v2(to, source, size, stream) == _SUCCESS)
