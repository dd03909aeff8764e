"""Groups within the world: pairs of ranks add up in their pair, and then all ranks add up the results of the pairs."""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, world

N = 32

pairs = [dist.new_group([p, p + 1]) for p in range(0, world, 2)]
pair = pairs[rank // 2]
t = symm_mem.empty(N + rank if broken else N, dtype=torch.int32, device=device)  # all ranks must allocate the same
h = symm_mem.rendezvous(t, pair)
total = symm_mem.empty(N, dtype=torch.int32, device=device)
world_h = symm_mem.rendezvous(total, group)
for step in range(3):
    t.fill_(rank + step)
    h.barrier()
    total.copy_(t + h.get_buffer(1 - h.rank, (N,), torch.int32))
    h.barrier()
    world_h.barrier()
    got = sum(world_h.get_buffer(p, (N,), torch.int32) for p in range(0, world, 2))
    world_h.barrier()
    equal(got, [world * step + sum(range(world))] * N)
end()
