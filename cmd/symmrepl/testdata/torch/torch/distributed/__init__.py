"""Collectives of processes that do not meet."""

import os
from types import SimpleNamespace

ReduceOp = SimpleNamespace(MAX="max")
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


def all_gather_into_tensor(out, t):
    assert out.shape == (t.shape[0] * get_world_size(),)
