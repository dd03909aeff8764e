"""pytorch#191618: a channel beyond the signal pad. With so many channels the pad must be larger."""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, group, left, right, world

CHANNELS = 5000

if not broken:
    symm_mem.set_signal_pad_size(4 * CHANNELS * world)
t = symm_mem.empty(8, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(t, group)
h.put_signal(right, channel=CHANNELS - 1)
h.wait_signal(left, channel=CHANNELS - 1)
end()
