"""Two streams: one sends blocks to the rank on the right, the other one takes those that come and gives their memory back."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, left, rank, right

N, STEPS, DATA, FREE = 256, 4, 0, 1  # the channels: a block has come, its memory is free

api = torch.get_device_module(device)
compute, sending = api.current_stream(), api.Stream()
block = symm_mem.empty(N, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(block, group)
theirs = h.get_buffer(right, (N,), torch.int32)
total = torch.zeros(N, dtype=torch.int32, device=device)
for step in range(STEPS):
    made = torch.full((N,), 10 * rank + step, dtype=torch.int32, device=device)
    sending.wait_stream(compute)
    with api.stream(sending):
        if step > 0:
            h.wait_signal(right, channel=FREE)
        theirs.copy_(made)
        h.put_signal(right, channel=DATA)
    h.wait_signal(left, channel=FREE if broken else DATA)
    total += block
    h.put_signal(left, channel=FREE)
    compute.wait_stream(sending)  # made is used until then
equal(total, [STEPS * 10 * left + sum(range(STEPS))] * N)
end()
