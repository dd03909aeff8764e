"""Copies signal pads to the host while a stream stands."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional

import torch

from .driver import Driver

Words = List[List[int]]
"""The words of all ranks' pads, by rank."""

_BYTES = 1 << 20  # of all pads of a handle


class Reader:
    """Reads pads on a device, by a stream of its own and memory that the GPU can write. Neither can be had once a stream stands."""

    def __init__(self, device: int) -> None:
        self._stream = torch.cuda.Stream(device, priority=-1)  # another hardware queue than that of most streams
        self._host = torch.empty(_BYTES // 4, dtype=torch.int32, pin_memory=True)

    def read(self, driver: Driver, handle: Any, size: int) -> Optional[Words]:
        stream, words = self._stream.cuda_stream, size // 4
        if words * handle.world_size > self._host.numel():
            return None
        for r, address in enumerate(handle.signal_pad_ptrs):
            if not driver.copy(self._host.data_ptr() + r * size, address, size, stream):
                return None
        end = driver.mark(stream)
        while end is not None and not driver.over(end):
            time.sleep(0.0005)
        return [self._host[r * words : (r + 1) * words].tolist() for r in range(handle.world_size)]


_readers: Dict[int, Reader] = {}


def prepare(device: int) -> None:
    """Gets what is needed to read pads on a device. It is called while nothing stands."""
    if device not in _readers:
        _readers[device] = Reader(device)


def read(driver: Driver, handle: Any, size: int) -> Optional[Words]:
    """Returns the pads of a handle, of so many bytes each; None if they cannot be read."""
    reader = _readers.get(handle.device.index)
    return None if reader is None else reader.read(driver, handle, size)
