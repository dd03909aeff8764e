"""All-to-all by put and signal: each rank copies a chunk to each rank and signals that it is there."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, world

CHUNK = 64

t = symm_mem.empty(world, CHUNK, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(t, group)
for step in range(3):
    chunks = torch.arange(world, dtype=torch.int32, device=device)[:, None].expand(world, CHUNK) + 100 * rank + step
    for peer in range(world):
        h.get_buffer(peer, (CHUNK,), torch.int32, rank * CHUNK).copy_(chunks[peer])
        h.put_signal(peer, channel=peer if broken else rank)  # the channel of the sender
    for peer in range(world):
        h.wait_signal(peer, channel=peer)
    equal(t, [[100 * peer + rank + step] * CHUNK for peer in range(world)])
    h.barrier(channel=world)  # before the next step overwrites t
end()
