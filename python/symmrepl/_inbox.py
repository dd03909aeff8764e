"""Receives memory that ranks send: descriptors by a Unix socket."""

from __future__ import annotations

import array
import itertools
import json
import os
import socket
import struct
from types import TracebackType
from typing import Any, List, NamedTuple, Optional, Tuple, Type

from .errors import TransferError
from .tensors import DTYPES, DType

_PATIENCE = 10.0
"""Seconds for a message that a rank has sent already."""

_LONGEST = 1 << 16
"""The longest message in bytes."""

_MOST = 1 << 48
"""The largest memory in bytes, and the largest number in a message."""

_numbers = itertools.count()


class Memory(NamedTuple):
    """A tensor in memory that a rank shares."""

    rank: int
    gpu: str
    size: int
    offset: int
    dtype: DType
    shape: Tuple[int, ...]
    descriptor: int

    def close(self) -> None:
        os.close(self.descriptor)


class Inbox:
    """A Unix socket in a folder that only this user can enter, at which ranks send memory. Use it as a context manager."""

    def __init__(self, folder: str, ranks: int) -> None:
        self.path = os.path.join(folder, f"view{os.getpid()}-{next(_numbers)}")
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError as e:
            raise _failure(e) from e
        try:
            self._socket.bind(self.path)
            os.chmod(self.path, 0o600)
            self._socket.listen(ranks)
            self._socket.settimeout(_PATIENCE)
        except OSError as e:
            self._end()
            raise TransferError(f"no socket can be made at {self.path}: {e}; SYMMREPL_SHM names another folder, whose path is short") from e

    def __enter__(self) -> Inbox:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]) -> None:
        self._end()

    def _end(self) -> None:
        self._socket.close()  # descriptors that were not received are closed with it
        try:
            os.unlink(self.path)
        except OSError:
            pass

    def receive(self) -> Memory:
        """Returns the next memory that a rank has sent. The caller closes it."""
        descriptors: List[int] = []
        try:
            connection, _ = self._socket.accept()
            with connection:
                connection.settimeout(_PATIENCE)
                (_, user, _) = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
                if user != os.getuid():
                    raise TransferError(f"a process of the user {user}, and not of this user, has sent memory")
                text = _read(connection, descriptors)
            if len(descriptors) != 1:
                raise TransferError(f"a rank has sent {len(descriptors)} descriptors for a tensor instead of 1: {_VERSIONS}")
            return _memory(text, descriptors.pop())
        except OSError as e:
            raise _failure(e) from e
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


_FILES = "close files, or raise `ulimit -n`"

_VERSIONS = "install the same version of the package and of the program"


def _failure(e: OSError) -> TransferError:
    if isinstance(e, socket.timeout):
        return TransferError(f"a rank's memory has not come within {_PATIENCE:g} s: call get again")
    return TransferError(f"memory of a rank cannot be received: {e}; if too many files are open, {_FILES}")


def _read(connection: socket.socket, descriptors: List[int]) -> bytes:
    """Returns a message, and adds the descriptors that come with it."""
    text = b""
    while True:
        part, extra, flags, _ = connection.recvmsg(_LONGEST, socket.CMSG_SPACE(64), socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                got = array.array("i")
                got.frombytes(data[: len(data) - len(data) % got.itemsize])
                descriptors.extend(got)
        if flags & socket.MSG_CTRUNC:
            raise TransferError(f"this process has no file descriptor left for the memory of a rank: {_FILES}")
        text += part
        if not part:
            return text
        if len(text) > _LONGEST:
            raise TransferError(f"a rank has sent more than {_LONGEST} bytes about a tensor: {_VERSIONS}")


def _memory(text: bytes, descriptor: int) -> Memory:
    """Returns the memory that a message describes, or closes the descriptor."""
    try:
        about = json.loads(text)
        dtype = next(t for t in DTYPES if t.name == about["dtype"])
        rank, size, offset = (_number(about[field]) for field in ("rank", "size", "offset"))
        shape = tuple(_number(length) for length in about["shape"])
        bytes = dtype.size
        for length in shape:
            bytes *= length
        if not isinstance(about["gpu"], str) or not size or offset + bytes > size or offset % dtype.size:
            raise ValueError("the tensor does not lie in the memory")
        return Memory(rank, about["gpu"], size, offset, dtype, shape, descriptor)
    except (ValueError, TypeError, KeyError, StopIteration, RecursionError) as e:
        os.close(descriptor)
        raise TransferError(f"a rank has sent a wrong description of a tensor, {text[:200]!r}: {_VERSIONS}") from e


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise ValueError("no number of bytes or elements")
    return value
