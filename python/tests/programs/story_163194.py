"""pytorch#163194: a peer's tensor is given to a call of NVSHMEM, which takes this rank's and finds the peer's by itself.

On GPUs it needs the back end NVSHMEM.
"""

import torch
import torch.distributed._symmetric_memory as symm_mem
from common import broken, device, end, equal, group, left, rank

if device.type == "cuda":
    symm_mem.set_backend("NVSHMEM")
t = symm_mem.empty(8, dtype=torch.int32, device=device)
h = symm_mem.rendezvous(t.fill_(rank), group)
theirs = h.get_buffer(left, (8,), torch.int32)
h.barrier(channel=0)
if rank == 0:
    torch.ops.symm_mem.nvshmem_get(theirs if broken else t, left)
h.barrier(channel=1)
equal(t, [left if rank == 0 else rank] * 8)
end()
