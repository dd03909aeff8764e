"""Symmetric memory of made-up peers. An allocation has a signal pad, a pool's offset, and the data: the handle has the addresses of
the allocation, and what symm_torch.py makes of them is checked in torch_test.go."""

import os

import torch

OFFSET = 256  # of a tensor in its allocation
PAD_BYTES = 9216
APART = 1 << 40  # from a rank's memory to the next one's


def empty(*shape, dtype, device):
    storage = torch.Storage(OFFSET + torch.numel(shape) * dtype.itemsize)
    storage.pad = torch.Storage(PAD_BYTES)
    return torch.Tensor(storage, OFFSET, shape, dtype)


class _SymmetricMemory:
    signal_pad_size = PAD_BYTES

    def __init__(self, storage):
        self.storage = storage
        self.rank, self.world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        away = [(p - self.rank) * APART for p in range(self.world_size)]
        self.buffer_ptrs = [storage.address + a for a in away]
        self.signal_pad_ptrs = [storage.pad.address + a for a in away]
        self.buffer_size = storage.nbytes
        self.offset = OFFSET

    def get_buffer(self, peer, sizes, dtype, storage_offset=0):
        storage = torch.Storage(self.storage.nbytes)  # a peer's memory can be written to and is never looked at
        if peer == self.rank:
            storage = self.storage
        t = torch.Tensor(storage, storage_offset * dtype.itemsize, sizes, dtype)
        address = self.buffer_ptrs[peer] + t.offset
        t.data_ptr_of_peer = address
        if peer != self.rank:
            t.data_ptr = lambda: address
            t.assign = lambda values: t
            t.view = lambda *shape: t
            t.__class__ = _Remote
        return t

    def get_signal_pad(self, peer, sizes=(), dtype=torch.uint32, storage_offset=0):
        return torch.Tensor(self.storage.pad, 0, (PAD_BYTES // dtype.itemsize,), dtype)


class _Remote(torch.Tensor):
    def __getitem__(self, key):
        return self

    def copy_(self, other):
        return self


def rendezvous(tensor, group):
    return _SymmetricMemory(tensor.storage)
