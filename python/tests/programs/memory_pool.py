"""A memory pool: what PyTorch's operators allocate in it is symmetric memory."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, right, world

N = 64

pool = symm_mem.get_mem_pool(device)
for step in range(3):
    with torch.get_device_module(device).use_mem_pool(pool):
        x = torch.full((N,), float(rank), device=device) + step
    h = symm_mem.rendezvous(x, group)
    total = torch.ops.symm_mem.one_shot_all_reduce(x, "sum", group.group_name)
    equal(total, [world * step + sum(range(world))] * N)
    x.mul_(2)
    if not broken:  # the rank on the right has changed its tensor
        h.barrier(channel=0)
    doubled = h.get_remote_tensor(right, (N,), torch.float32).clone()
    h.barrier(channel=1)  # x ends
    equal(doubled, [2 * (right + step)] * N)
end()
