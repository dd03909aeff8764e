"""pytorch#188005: two barriers on two streams, which share a channel in the broken program: on GPUs each may take the other one's signals.

On the CPU a stream does not run beside another one, so the barriers come in the order of the program.
"""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, rank, right

api = torch.get_device_module(device)
side = api.Stream()
a, b = (symm_mem.empty(8, dtype=torch.int32, device=device).fill_(rank) for _ in range(2))
h = symm_mem.rendezvous(a, group)
h_b = symm_mem.rendezvous(b, group)
side.wait_stream(api.current_stream())
for _ in range(10):
    with api.stream(side):
        h.barrier(channel=0)
    h.barrier(channel=0 if broken else 1)
api.current_stream().wait_stream(side)
equal(h.get_buffer(right, (8,), torch.int32), [right] * 8)
h.barrier()
end()
