import torch


def empty(*shape, dtype, device):
    assert device == torch.device("cuda", torch.cuda.current_device())
    return torch.ones(*shape, device="cuda", dtype=dtype)


class Handle:
    def __init__(self, t):
        self.t = t

    def get_buffer(self, peer, shape, dtype):
        assert 0 <= peer < torch.distributed.get_world_size() and dtype is self.t.dtype
        return torch.Tensor(*shape, dtype=dtype)


def rendezvous(t, group):
    return Handle(t)


def set_backend(name):
    raise RuntimeError(f"SymmetricMemory does not find allocation backend {name}. More words")
