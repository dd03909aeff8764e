"""A process group of which this process is one rank: the others have the same values."""

import os
import types

group = types.SimpleNamespace(WORLD="world")
ReduceOp = types.SimpleNamespace(SUM="sum", MAX="max", MIN="min")


def get_rank(group):
    return int(os.environ["RANK"])


def get_world_size(group):
    return int(os.environ["WORLD_SIZE"])


def is_initialized():
    return False


def init_process_group(backend, device_id=None):
    pass


def destroy_process_group():
    pass


def get_backend(group):
    return "gloo"


def barrier(group):
    pass


def all_reduce(t, op, group):
    if op == "sum":
        t.assign([v * get_world_size(group) for v in t.flat()])


def all_gather(parts, t, group):
    for p in parts:
        p.copy_(t)


def broadcast(t, root, group):
    pass
