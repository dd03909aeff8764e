"""What PyTorch symmetric memory and NCCL reach on this machine, for the table of `symmrepl bench`.

Started by torchrun, one process a GPU. Prints one JSON object a line: op, bytes, and microseconds a call, the
maximum over ranks of each rank's median: graph_us of CUDA graph replays of 20 calls, eager_us of 50 back-to-back calls.
"""

import json
import os
import statistics
import sys

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem

CALLS, REPEATS = 20, 7


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


def measure(op, nbytes, fn):
    for _ in range(3):
        fn()
    torch.cuda.synchronize()
    eager = timed(fn, 50)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            fn()
    graph.replay()
    replayed = timed(graph.replay, 5) / CALLS
    if dist.get_rank() == 0:
        print(json.dumps({"op": op, "bytes": nbytes, "eager_us": eager, "graph_us": replayed}), flush=True)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    device = torch.device("cuda", local)
    dist.init_process_group("nccl", device_id=device)
    group = dist.group.WORLD.group_name
    ops = torch.ops.symm_mem
    for nbytes in map(int, sys.argv[1].split(",")):
        n = nbytes // 2
        symmetric = symm_mem.empty(n, dtype=torch.bfloat16, device=device)
        symmetric.normal_()
        symm_mem.rendezvous(symmetric, group)
        plain = torch.randn(n, device=device, dtype=torch.bfloat16)
        measure("one_shot", nbytes, lambda: ops.one_shot_all_reduce(symmetric, "sum", group))
        measure("nccl", nbytes, lambda: dist.all_reduce(plain))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
