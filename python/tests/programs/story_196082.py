"""pytorch#196082: a rendezvous in a smaller group, and then one of the world, which stood on GPUs."""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from common import device, end, equal, group, rank, world

few = dist.new_group([0, 1])
t = symm_mem.empty(8, dtype=torch.int32, device=device).fill_(rank)
if rank < 2:
    h = symm_mem.rendezvous(t, few)
    h.barrier()
    equal(h.get_buffer(1 - rank, (8,), torch.int32), [1 - rank] * 8)
h = symm_mem.rendezvous(t, group)
h.barrier()
equal(sum(h.get_buffer(p, (8,), torch.int32) for p in range(world)), [sum(range(world))] * 8)
end()
