"""Checks communicators that nccl4py and symmem share, in one Python process for each GPU:

    go build -buildmode=c-shared -o build/nccl4py.so ./.ci/nccl4py
    python .ci/nccl4py/nccl4py.py build/nccl4py.so [RANKS]

It needs PyTorch and nccl4py 0.6 with its NCCL: pip install torch "nccl4py[cu13]". RANKS is 2 by default."""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def rank_main(library, folder):
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    import nccl.core as nccl
    import torch
    from cuda.core import Device

    Device(int(os.environ["LOCAL_RANK"])).set_current()
    process = ctypes.CDLL(None)
    process.dlopen.restype = ctypes.c_void_p
    handle = process.dlopen(library.encode(), os.RTLD_LAZY)  # CDLL would ask for all of NVML's functions at once
    if not handle:
        process.dlerror.restype = ctypes.c_char_p
        sys.exit(process.dlerror().decode())
    lib = ctypes.CDLL(library, handle=handle)

    def call(name, *args):
        f = getattr(lib, name)
        f.restype = ctypes.c_char_p
        why = f(*args)
        return why.decode() if why else ""

    def must(name, *args):
        why = call(name, *args)
        assert not why, f"{name}: {why}"

    must("symm_start")

    # Rank 0 gives the others the ID of a communicator of nccl4py.
    file = Path(folder, "id")
    if rank == 0:
        file.with_suffix(".part").write_bytes(bytes(nccl.get_unique_id()))
        file.with_suffix(".part").rename(file)
    while not file.exists():
        time.sleep(0.01)
    theirs = nccl.Communicator.init(ranks, rank, nccl.UniqueId.from_bytes(file.read_bytes()))

    class Tensor:
        """The tensor of symmem, filled with rank+1."""

        def __init__(self):
            at, n = ctypes.c_size_t(), ctypes.c_int()
            must("symm_tensor", ctypes.byref(at), ctypes.byref(n))
            self.__cuda_array_interface__ = {"shape": (n.value,), "typestr": "<f4", "data": (at.value, False), "version": 3, "strides": None}

    def reduced_by_nccl4py(comm):
        t = torch.as_tensor(Tensor(), device=f"cuda:{Device().device_id}")  # cuda.core takes the bare array for one of GPU 0
        stream = Device().create_stream()
        comm.allreduce(t, t, nccl.SUM, stream=stream)
        stream.sync()
        must("symm_check")

    # symmem refuses what is no communicator of this rank, and adopts nccl4py's.
    for wrong in (0, 4711):
        why = call("symm_adopt", ctypes.c_size_t(wrong))
        assert "there is no memory at that address" in why, why
    must("symm_adopt", ctypes.c_size_t(theirs.ptr))
    for _ in range(3):
        Tensor()
        how = ctypes.c_char_p()
        must("symm_all_reduce", ctypes.byref(how))
        must("symm_check")
        assert b": NCCL " in how.value, how.value
        reduced_by_nccl4py(theirs)
    print(f"rank {rank}: symmem has adopted nccl4py's communicator: {how.value.decode()}", flush=True)

    # nccl4py uses symmem's.
    ours = ctypes.c_size_t()
    must("symm_comm", ctypes.byref(ours))
    comm = nccl.Communicator(ours.value)
    assert (comm.rank, comm.nranks) == (rank, ranks), (comm.rank, comm.nranks)
    assert ours.value != theirs.ptr
    reduced_by_nccl4py(comm)
    print(f"rank {rank}: nccl4py {nccl.__version__} has used symmem's communicator", flush=True)

    must("symm_stop")
    reduced = theirs.get_async_error()  # symmem has not ended it
    theirs.destroy()
    print(f"rank {rank}: ok ({reduced!r} after the end of symmem)", flush=True)
    os._exit(0)  # Python must not end symmem's communicator a second time


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    import nvidia.nccl

    os.environ["SYMMREPL_NCCL"] = str(Path(list(nvidia.nccl.__path__)[0], "lib", "libnccl.so.2"))  # one library for both
    ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for r in range(ranks):
            # the threads of the cpu device, which the library has too, need static thread-local storage
            env = dict(os.environ, GLIBC_TUNABLES="glibc.rtld.optional_static_tls=200000", RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                       MASTER_PORT="29517", NCCL4PY_FOLDER=folder)
            processes.append(subprocess.Popen([sys.executable, __file__, os.path.abspath(sys.argv[1])], env=env))
        status = 0
        end = time.time() + 300
        for p in processes:
            try:
                status |= p.wait(max(1, end - time.time()))
            except subprocess.TimeoutExpired:
                p.kill()
                status = 1
    print("all ranks: ok" if status == 0 else "FAILED")
    sys.exit(status)


if "NCCL4PY_FOLDER" in os.environ:
    rank_main(sys.argv[1], os.environ["NCCL4PY_FOLDER"])
else:
    main()
