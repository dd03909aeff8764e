"""pytorch#192581: one allocation has a handle of the world and one of a smaller group, and both use the same words of the signal pad.

A word is found by the number of the sender in its group. Rank 1 of the world and rank 1 of the group of ranks 0 and 2 (or 0 and 1, of a
world of two) have the same one, so that rank 1's signal in the world completes rank 0's wait for another rank or for another one of
its signals. The right program has an allocation for each group.
"""

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, world

N = 16
SENDER = 2 if world > 2 else 1  # within the world; rank 1 of the group

few = dist.new_group([0, SENDER])
t = symm_mem.empty(N, dtype=torch.int32, device=device)
world_h = symm_mem.rendezvous(t.zero_(), group)
data = t if broken else symm_mem.empty(N, dtype=torch.int32, device=device).zero_()
few_h = symm_mem.rendezvous(data, few) if rank in (0, SENDER) else None
if rank == 1:
    world_h.put_signal(0, channel=0)
dist.barrier()
if rank == SENDER:
    few_h.wait_signal(0, channel=1)  # rank 0 is late
    few_h.get_buffer(0, (N,), torch.int32).fill_(7)
    few_h.put_signal(0, channel=0)
if rank == 0:
    few_h.put_signal(1, channel=1)
    few_h.wait_signal(1, channel=0)  # in the broken program rank 1's signal in the world ends this wait
    got = data.clone()
    world_h.wait_signal(1, channel=0)
    equal(got, [7] * N)
end()
