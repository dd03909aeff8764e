"""Collectives of processes that do not meet."""

import os
from types import SimpleNamespace

ReduceOp = SimpleNamespace(MAX="max", AVG="avg")
group = SimpleNamespace(WORLD=SimpleNamespace(group_name="0"))


def init_process_group(backend, device_id):
    assert backend == "nccl"


def get_world_size():
    return int(os.environ["WORLD_SIZE"])


def get_rank():
    return int(os.environ["RANK"])


def barrier():
    pass


def all_reduce(t, op="sum"):
    assert t.shape


def work(asynchronous):
    return SimpleNamespace(wait=lambda: None) if asynchronous else None


def all_gather_into_tensor(out, t, async_op=False):
    assert out.shape == (t.shape[0] * get_world_size(), *t.shape[1:])
    return work(async_op)


def reduce_scatter_tensor(out, t, op="sum", async_op=False):
    assert t.shape == (out.shape[0] * get_world_size(), *out.shape[1:])
    return work(async_op)
