"""What PyTorch symmetric memory, NCCL and NVSHMEM reach on this machine, for the tables of `symmrepl bench`.

Started by torchrun, one process a GPU: peers.py BACKEND DTYPE SIZES OPS. Prints one JSON object a line: op, by whom, bytes, and
microseconds a call, the maximum over ranks of each rank's median: graph_us of CUDA graph replays of 20 calls, eager_us of 50
back-to-back calls. What an installation does not have is left out.
"""

import json
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

CALLS, REPEATS, EXPERTS = 20, 7, 8
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}


def timed(fn, calls):
    """Microseconds a call by CUDA events: median over repeats, then maximum over ranks."""
    us = []
    for _ in range(REPEATS):
        dist.barrier()
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            fn()
        end.record()
        torch.cuda.synchronize()
        us.append(start.elapsed_time(end) * 1e3 / calls)
    worst = torch.tensor([statistics.median(us)], device="cuda", dtype=torch.float64)
    dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    return worst.item()


def measure(op, by, nbytes, fn):
    row = {"op": op, "by": by, "bytes": nbytes}
    try:
        for _ in range(3):
            fn()
        torch.cuda.synchronize()
        row["eager_us"] = timed(fn, 50 if nbytes <= 1 << 24 else 10)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(CALLS):
                fn()
        graph.replay()
        row["graph_us"] = timed(graph.replay, 5 if nbytes <= 1 << 24 else 1) / CALLS
    except Exception as e:
        print(op, by, nbytes, str(e).split("\n")[0], file=sys.stderr)
        torch.cuda.synchronize()
    if dist.get_rank() == 0 and "eager_us" in row:
        print(json.dumps(row), flush=True)


class Work:
    """The peers of each operation, as pairs of a name and a function, for messages of nbytes."""

    def __init__(self, dtype, nbytes):
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        self.group = dist.group.WORLD.group_name
        self.dtype = dtype
        unit = 8 * self.world
        self.n = max(nbytes // dtype.itemsize // unit, 1) * unit

    def symmetric(self, *shape, dtype=None):
        t = symm_mem.empty(*shape, dtype=dtype or self.dtype, device="cuda")
        t.fill_(1)
        self.handle = symm_mem.rendezvous(t, self.group)
        return t

    def plain(self, n):
        return torch.ones(n, device="cuda", dtype=self.dtype)

    def one_shot_all_reduce(self):
        t, r = self.symmetric(self.n), self.plain(self.n)
        yield "PyTorch", lambda: torch.ops.symm_mem.one_shot_all_reduce(t, "sum", self.group)
        yield "NCCL", lambda: dist.all_reduce(r)

    def two_shot_all_reduce(self):
        t, r = self.symmetric(self.n), self.plain(self.n)
        yield "PyTorch", lambda: torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", self.group)
        yield "NCCL", lambda: dist.all_reduce(r)

    def all_reduce(self):
        t, out, r = self.symmetric(self.n), self.plain(self.n), self.plain(self.n)
        if self.n * self.dtype.itemsize <= 1 << 24:
            yield "PyTorch", lambda: torch.ops.symm_mem.one_shot_all_reduce_out(t, "sum", self.group, out)
        yield "PyTorch", lambda: torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", self.group)
        yield "NCCL", lambda: dist.all_reduce(r)

    def reduce_scatter(self):
        r, out = self.plain(self.n), self.plain(self.n // self.world)
        yield "NCCL", lambda: dist.reduce_scatter_tensor(out, r)

    def all_gather(self):
        r, out = self.plain(self.n // self.world), self.plain(self.n)
        yield "NCCL", lambda: dist.all_gather_into_tensor(out, r)

    all_gather_copy_engine = all_gather

    def all_to_all(self):
        r, out = self.plain(self.n), self.plain(self.n)
        yield "NCCL", lambda: dist.all_to_all_single(out, r)

    all_to_all_copy_engine = all_to_all

    def broadcast(self):
        r = self.plain(self.n)
        yield "NCCL", lambda: dist.broadcast(r, 0)

    def barrier(self):
        self.symmetric(64)
        h = self.handle
        yield "PyTorch", lambda: h.barrier(0)

    def signal_ring(self):
        self.symmetric(64)
        h, rank, world = self.handle, self.rank, self.world

        def ring():
            h.put_signal((rank + 1) % world, 0)
            h.wait_signal((rank - 1) % world, 0)

        yield "PyTorch", ring

    def signal_round_trip(self):
        self.symmetric(64)
        h, rank = self.handle, self.rank

        def trip():
            if rank == 0:
                h.put_signal(1, 1)
                h.wait_signal(1, 1)
            elif rank == 1:
                h.wait_signal(0, 1)
                h.put_signal(0, 1)

        yield "PyTorch", trip


class Rows(Work):
    """Those by splits on the device, which PyTorch does with NVSHMEM."""

    def rows(self, parts):
        width = min(7168, self.n // (EXPERTS * self.world))
        count = self.n // width // (EXPERTS * self.world) * EXPERTS * self.world
        splits = self.symmetric(parts, dtype=torch.int64).fill_(count // parts)
        return self.symmetric(count, width), self.symmetric(count + 16 * parts, width), splits, self.symmetric(2, parts, dtype=torch.int64)

    def all_to_all_vdev(self):
        t, out, splits, made = self.rows(self.world)
        yield "NVSHMEM", lambda: torch.ops.symm_mem.all_to_all_vdev(t, out, splits, made, self.group)

    def all_to_all_vdev_2d(self):
        t, out, splits, made = self.rows(EXPERTS * self.world)
        yield "NVSHMEM", lambda: torch.ops.symm_mem.all_to_all_vdev_2d(t, out, splits, made, self.group)

    def all_to_all_vdev_2d_offset(self):
        t, out, splits, made = self.rows(EXPERTS * self.world)
        torch.ops.symm_mem.all_to_all_vdev_2d(t, out, splits, made, self.group)
        back = self.symmetric(*made.shape, dtype=torch.int64)
        yield "NVSHMEM", lambda: torch.ops.symm_mem.all_to_all_vdev_2d_offset(out, t, made, back, self.group)


def main():
    backend, dtype, sizes, names = sys.argv[1:5]
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    if backend == "NVSHMEM":
        symm_mem.set_backend(backend)
    dist.init_process_group("nccl", device_id=device)
    dist.all_reduce(torch.zeros(1, device=device))
    words = {"barrier", "signal_ring", "signal_round_trip"}
    for name in names.split(","):
        for nbytes in [4] if name in words else map(int, sizes.split(",")):
            work = (Rows if backend == "NVSHMEM" else Work)(getattr(torch, TYPES[dtype]), nbytes)
            if name in vars(type(work)):
                for by, fn in getattr(work, name)():
                    measure(name, by, nbytes, fn)
    torch.cuda.synchronize()
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # NVSHMEM may hang when it is torn down


if __name__ == "__main__":
    main()
