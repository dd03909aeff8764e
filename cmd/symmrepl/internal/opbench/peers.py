"""What PyTorch's symmetric memory, NCCL and NVSHMEM reach on this machine, for the tables of `symmrepl bench`.

Started by torchrun, one process a GPU: peers.py BACKEND DTYPE SIZES OPS, or peers.py CUDA DTYPE SIZES overlap SIDE, or
peers.py CUDA DTYPE SIZES fsdp LAYERS. Prints one
JSON object a line: op, by whom, bytes, and microseconds a call, the maximum over ranks of each rank's median: graph_us of CUDA
graph replays of 20 calls, eager_us of 50 back-to-back calls. What could not be measured has an error instead, and one without
an op concerns all that BACKEND would have measured. What a class below has no method for has no such peer.
"""

import json
import os
import statistics
import sys

import torch
import torch.distributed as dist

CALLS, REPEATS, EXPERTS = 20, 7, 8
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}
WORDS = {"barrier", "signal_ring", "signal_round_trip", "stream_write_value32"}  # whatever the sizes
EAGER = {"mem_pool"}  # cannot be captured


def say(**row):
    if int(os.environ["RANK"]) == 0:
        print(json.dumps(row), flush=True)


def reason(e):
    return f"torch {torch.__version__}: " + (str(e).strip() or type(e).__name__).split("\n")[0].split(". ")[0]


def worst(us):
    """The median, and of that the maximum over ranks."""
    t = torch.tensor([statistics.median(us)], device="cuda", dtype=torch.float64)
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t.item()


def between(calls, fn):
    """Microseconds a call between two CUDA events of the current stream."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(calls):
        fn()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3 / calls


def timed(fn, calls):
    us = []
    for _ in range(REPEATS):
        dist.barrier()
        torch.cuda.synchronize()
        us.append(between(calls, fn))
    return worst(us)


def times(fn, nbytes, captured):
    """fn's times, with the reason if one of them could not be measured."""
    found = {}
    try:
        for _ in range(3):
            fn()
        torch.cuda.synchronize()
        found["eager_us"] = timed(fn, 50 if nbytes <= 1 << 24 else 10)
        if captured:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(CALLS):
                    fn()
            graph.replay()
            found["graph_us"] = timed(graph.replay, 5 if nbytes <= 1 << 24 else 1) / CALLS
    except Exception as e:
        found["error"] = reason(e)
        torch.cuda.synchronize()  # raises again where the device is lost
    return found


def measure(op, by, nbytes, ways):
    """Measures what ways, a generator, sets up one after the other."""
    row = {"op": op, "by": by, "bytes": nbytes}
    try:
        for fn in ways:
            say(**row, **times(fn, nbytes, op not in EAGER))
    except Exception as e:
        say(**row, error=reason(e))
        torch.cuda.synchronize()


class Work:
    """Operations on messages of nbytes. A method of an operation's name yields functions that do it, each in another way."""

    def __init__(self, dtype, nbytes):
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        self.group = dist.group.WORLD.group_name
        self.dtype = dtype
        unit = 8 * self.world
        self.n = max(nbytes // dtype.itemsize // unit, 1) * unit

    def plain(self, *shape):
        return torch.ones(*shape, device="cuda", dtype=self.dtype)

    def symmetric(self, *shape, dtype=None):
        import torch.distributed._symmetric_memory as symm_mem

        # NVSHMEM allocates on device 0 if it is given none
        t = symm_mem.empty(*shape, dtype=dtype or self.dtype, device=torch.device("cuda", torch.cuda.current_device()))
        t.fill_(1)
        self.handle = symm_mem.rendezvous(t, self.group)
        return t

    def beside(self, *shape, dtype=None):
        """The right neighbour's copy of a symmetric tensor."""
        self.symmetric(*shape, dtype=dtype)
        return self.handle.get_buffer((self.rank + 1) % self.world, shape, dtype or self.dtype)


class NCCL(Work):
    def all_reduce(self):
        r = self.plain(self.n)
        yield lambda: dist.all_reduce(r)

    one_shot_all_reduce = two_shot_all_reduce = all_reduce

    def reduce_scatter(self):
        r, out = self.plain(self.n), self.plain(self.n // self.world)
        yield lambda: dist.reduce_scatter_tensor(out, r)

    def all_gather(self):
        r, out = self.plain(self.n // self.world), self.plain(self.n)
        yield lambda: dist.all_gather_into_tensor(out, r)

    all_gather_copy_engine = all_gather

    def all_to_all(self):
        r, out = self.plain(self.n), self.plain(self.n)
        yield lambda: dist.all_to_all_single(out, r)

    all_to_all_copy_engine = all_to_all

    def broadcast(self):
        r = self.plain(self.n)
        yield lambda: dist.broadcast(r, 0)


class PyTorch(Work):
    def one_shot_all_reduce(self):
        t = self.symmetric(self.n)
        yield lambda: torch.ops.symm_mem.one_shot_all_reduce(t, "sum", self.group)

    def two_shot_all_reduce(self):
        t = self.symmetric(self.n)
        yield lambda: torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", self.group)

    def all_reduce(self):
        t, out = self.symmetric(self.n), self.plain(self.n)
        if self.n * self.dtype.itemsize <= 1 << 24:
            yield lambda: torch.ops.symm_mem.one_shot_all_reduce_out(t, "sum", self.group, out)
        yield lambda: torch.ops.symm_mem.two_shot_all_reduce_(t, "sum", self.group)

    def put(self):
        there, t = self.beside(self.n), self.plain(self.n)
        yield lambda: there.copy_(t)

    def get(self):
        there, t = self.beside(self.n), self.plain(self.n)
        yield lambda: t.copy_(there)

    def put_block(self):
        width = min(512, self.n // 8)
        t = self.plain(self.n // width, width)
        there = self.beside(self.n // width, 2 * width)[:, :width]
        yield lambda: there.copy_(t)

    def get_block(self):
        width = min(512, self.n // 8)
        t = self.plain(self.n // width, width)
        there = self.beside(self.n // width, 2 * width)[:, :width]
        yield lambda: t.copy_(there)

    def barrier(self):
        self.symmetric(64)
        h = self.handle
        yield lambda: h.barrier(0)

    def signal_ring(self):
        self.symmetric(64)
        h, rank, world = self.handle, self.rank, self.world

        def ring():
            h.put_signal((rank + 1) % world, 0)
            h.wait_signal((rank - 1) % world, 0)

        yield ring

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

        yield trip

    def stream_write_value32(self):
        there = self.beside(64, dtype=torch.uint32)
        yield lambda: torch.ops.symm_mem.stream_write_value32_(there, 0, 1)

    def memset32(self):
        count = self.n * self.dtype.itemsize // 4
        t = self.symmetric(count, dtype=torch.uint32)
        yield lambda: torch.ops.symm_mem.memset32_(t, 0, 1, count)

    def mem_pool(self):
        yield lambda: self.symmetric(self.n)  # goes through the device's pool

    def matmul(self):
        side = 8
        while (side + 8) ** 2 <= self.n:
            side += 8
        a, b, out = self.plain(side, side), self.plain(side, side), self.plain(side, side)
        yield lambda: torch.mm(a, b, out=out)


class NVSHMEM(Work):
    """Rows by splits on the device."""

    def rows(self, parts):
        width = min(7168, self.n // (EXPERTS * self.world))
        count = self.n // width // (EXPERTS * self.world) * EXPERTS * self.world
        splits = self.symmetric(parts, dtype=torch.int64).fill_(count // parts)
        return self.symmetric(count, width), self.symmetric(count + 16 * parts, width), splits, self.symmetric(2, parts, dtype=torch.int64)

    def all_to_all_vdev(self):
        t, out, splits, made = self.rows(self.world)
        yield lambda: torch.ops.symm_mem.all_to_all_vdev(t, out, splits, made, self.group)

    def all_to_all_vdev_2d(self):
        t, out, splits, made = self.rows(EXPERTS * self.world)
        yield lambda: torch.ops.symm_mem.all_to_all_vdev_2d(t, out, splits, made, self.group)

    def all_to_all_vdev_2d_offset(self):
        t, out, splits, made = self.rows(EXPERTS * self.world)
        torch.ops.symm_mem.all_to_all_vdev_2d(t, out, splits, made, self.group)
        back = self.symmetric(*made.shape, dtype=torch.int64)
        yield lambda: torch.ops.symm_mem.all_to_all_vdev_2d_offset(out, t, made, back, self.group)


def overlap(dtype, nbytes, side):
    """An all-gather of nbytes a rank by NCCL on one stream, products on another: each alone, and beside the other."""
    n, products, gathers = nbytes // dtype.itemsize, 20, 20
    a, b, c = (torch.ones(side, side, device="cuda", dtype=dtype) for _ in range(3))
    part, out = torch.ones(n, device="cuda", dtype=dtype), torch.ones(n * dist.get_world_size(), device="cuda", dtype=dtype)
    other = torch.cuda.Stream()
    product, gather = lambda: torch.mm(a, b, out=c), lambda: dist.all_gather_into_tensor(out, part)

    def beside(calls, fn, more, company):
        """fn's time while company is called more times on the other stream, which takes longer."""
        us = []
        for _ in range(REPEATS):
            dist.barrier()
            torch.cuda.synchronize()
            with torch.cuda.stream(other):
                for _ in range(more):
                    company()
            us.append(between(calls, fn))
        return worst(us)

    product(), gather()
    row = {"op": "overlap", "by": "NCCL", "bytes": nbytes}
    row["product_us"], row["gather_us"] = timed(product, products), timed(gather, gathers)
    ratio = row["product_us"] / row["gather_us"]
    row["product_beside_us"] = beside(products, product, int(2 * products * ratio) + 2, gather)
    row["gather_beside_us"] = beside(gathers, gather, int(4 * gathers / ratio) + 2, product)
    say(**row)


def fsdp(dtype, nbytes, layers):
    """A step of layers whose square weights of nbytes are sharded, by NCCL: in turns with the products, and beside them."""
    side, world = round((nbytes // dtype.itemsize) ** 0.5), dist.get_world_size()
    make = lambda *shape: torch.ones(*shape, device="cuda", dtype=dtype)
    shards, grads = [make(side // world, side) for _ in range(layers)], [make(side // world, side) for _ in range(layers)]
    acts, buffers, wholes = [make(side, side) for _ in range(layers + 1)], [make(side, side) for _ in range(2)], [make(side, side) for _ in range(2)]
    dys, turned = [make(side, side) for _ in range(2)], make(side, side)

    def each(order, beside, use):
        works = {}
        for i in range(layers + beside):
            if i < layers:
                works[i] = dist.all_gather_into_tensor(buffers[i % 2], shards[order[i]], async_op=bool(beside))
            if i >= beside:
                if beside:
                    works[i - beside].wait()
                use(order[i - beside], buffers[(i - beside) % 2])

    def step(beside):
        each(range(layers), beside, lambda l, weights: torch.mm(acts[l], weights, out=acts[l + 1]))
        dy, scatters = acts[layers], {}

        def backward(l, weights):
            nonlocal dy
            if beside and l + 2 < layers:
                scatters[l + 2].wait()
            torch.mm(turned, dy, out=wholes[l % 2])
            scatters[l] = dist.reduce_scatter_tensor(grads[l], wholes[l % 2], op=dist.ReduceOp.AVG, async_op=bool(beside))
            dy = torch.mm(dy, weights.T, out=dys[l % 2])

        each(range(layers)[::-1], beside, backward)
        for work in scatters.values():
            if work is not None:
                work.wait()

    for way, beside in ("NCCL, one after the other", 0), ("NCCL, overlapped", 1):
        step(beside)
        say(op="fsdp", by="NCCL", way=way, bytes=nbytes, step_us=timed(lambda: step(beside), 1))


def main():
    backend, dtype, sizes, names = sys.argv[1:5]
    peers = [NVSHMEM] if backend == "NVSHMEM" else [PyTorch, NCCL]
    everybody = " and ".join(by.__name__ for by in peers)
    world, gpus = int(os.environ["WORLD_SIZE"]), torch.cuda.device_count()
    if gpus < world:
        return say(by=everybody, error=f"torch {torch.__version__} sees {gpus} GPUs, {world} are needed")
    status = 0
    try:
        if backend == "NVSHMEM":
            import torch.distributed._symmetric_memory as symm_mem

            symm_mem.set_backend(backend)
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
        dist.all_reduce(torch.zeros(1, device=device))
        kind = getattr(torch, TYPES[dtype])
        for name in names.split(","):
            for nbytes in [4] if name in WORDS else map(int, sizes.split(",")):
                if name == "overlap":
                    overlap(kind, nbytes, int(sys.argv[5]))
                if name == "fsdp":
                    fsdp(kind, nbytes, int(sys.argv[5]))
                for by in peers:
                    if name in vars(by):
                        measure(name, by.__name__, nbytes, getattr(by(kind, nbytes), name)())
        torch.cuda.synchronize()
        dist.barrier()
    except Exception as e:
        say(by=everybody, error=reason(e))
        status = 1  # torchrun then ends the other ranks
    sys.stdout.flush()
    os._exit(status)  # NVSHMEM may hang when it is torn down


if __name__ == "__main__":
    main()
