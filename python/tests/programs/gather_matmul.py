"""An all-gather fused with a product: a rank multiplies the rows of each rank as soon as they are there."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, world

ROWS, INNER, COLUMNS = 8, 16, 4

rows = symm_mem.empty(ROWS, INNER, dtype=torch.float32, device=device)
h = symm_mem.rendezvous(rows, group)
a = torch.arange(world * ROWS * INNER, device=device).view(world * ROWS, INNER).remainder(5).float()
b = torch.arange(INNER * COLUMNS, device=device).view(INNER, COLUMNS).remainder(3).float()
out = torch.empty(world * ROWS, COLUMNS, device=device)
others = [(rank + k) % world for k in range(1, world)]
for step in range(3):
    rows.copy_(a[rank * ROWS : (rank + 1) * ROWS] + step)
    for peer in others:
        h.put_signal(peer, channel=0)
    torch.mm(rows, b, out=out[rank * ROWS : (rank + 1) * ROWS])
    for peer in others:
        if not broken:  # its rows are there
            h.wait_signal(peer, channel=0)
        theirs = h.get_buffer(peer, (ROWS, INNER), torch.float32)
        torch.mm(theirs, b, out=out[peer * ROWS : (peer + 1) * ROWS])
        if broken:
            h.wait_signal(peer, channel=0)
    h.barrier(channel=1)  # before the next step overwrites rows
    equal(out, (a + step) @ b)
end()
