"""An all-gather in a ring: in each step a rank passes the block that came last on to the rank on its right."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, left, rank, right, world

N = 128

t = symm_mem.empty(world, N, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(t, group)
theirs = h.get_buffer(right, (world, N), torch.int32)
for turn in range(3):
    t[rank] = 10 * rank + turn
    for step in range(world - 1):
        block = (rank - step) % world
        if broken:  # the signal comes before the data
            h.put_signal(right)
        theirs[block].copy_(t[block])
        if not broken:
            h.put_signal(right)
        h.wait_signal(left)
    gathered = t.clone()
    equal(gathered, [[10 * p + turn] * N for p in range(world)])
    h.barrier(channel=1)
end()
