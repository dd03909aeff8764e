"""The kernels by which ranks signal each other outside operators."""

from __future__ import annotations

from typing import Dict

from ..emulator.device import Kernel
from .groups import device

# A signal pad has PyTorch's layout: a word for each channel and source rank, 0 or 1. Such are the slots of symm/signal.cuh.
_TEXT = """
extern "C" __global__ void put(symm::Signals s, symm::Context c, int peer, unsigned channel) { symm::put_signal(s, c, peer, channel); }
extern "C" __global__ void wait(symm::Signals s, symm::Context c, int peer, unsigned channel) { symm::wait_signal(s, c, peer, channel); }
extern "C" __global__ void barrier(symm::Signals s, symm::Context c, int, unsigned channel) {
  const int peer = threadIdx.x;
  if (peer < c.world_size && peer != c.rank && symm::put_signal(s, c, peer, channel)) symm::wait_signal(s, c, peer, channel);
}
extern "C" __global__ void reached(symm::Context c, const symm::u64* word, symm::u64 least, int peer, unsigned channel) {
  symm::wait_until<symm::u64>(c, word, least, symm::kAtLeast, symm::kBarrier, (symm::u32)peer, channel);
}
extern "C" __global__ void write(symm::u32* word, symm::u64 value) { symm::store_release(word, (symm::u32)value); }
"""
_kernels: Dict[str, Kernel] = {}


def kernel(name: str) -> Kernel:
    if not _kernels:
        _kernels.update((n, k) for n, (k, _) in device().compile(_TEXT, "symmrepl.torch").items())
    return _kernels[name]
