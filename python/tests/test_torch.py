"""Programs on PyTorch's symmetric memory, on the cpu device. .ci/torch runs these tests with a PyTorch of each version."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

BEGIN = """
import os, shutil, sys
import torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import symmrepl.torch
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
G = dist.group.WORLD
ops, name = torch.ops.symm_mem, G.group_name
right, left = (rank + 1) % world, (rank - 1) % world

def has(name):  # a function or an operator of the installed version
    return hasattr(symm_mem, name) or hasattr(ops, name)

def same(got, want):
    got = got.tolist() if isinstance(got, torch.Tensor) else got
    if got != want:
        raise AssertionError(f"rank {rank}: {str(got)[:200]} is not {str(want)[:200]}")

def refused(kind, text, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as e:
        if text not in str(e):
            raise AssertionError(f"rank {rank}: {e} does not say {text!r}")
        return e
    raise AssertionError(f"rank {rank}: {call} was not refused")
"""
END = """
dist.barrier()
sys.stdout.write("right\\n")  # at once
dist.destroy_process_group()
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Programs(unittest.TestCase):
    environment = {}
    limit = 300  # seconds for a program

    def run_program(self, text, *worlds):
        for world in worlds or (2, 4):
            with self.subTest(world=world), tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder, "prog.py")
                program.write_text(BEGIN + textwrap.dedent(text) + END)
                command = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world), program]
                environment = {**os.environ, "OMP_NUM_THREADS": "1", **self.environment}
                run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
                try:
                    out, err = run.communicate(timeout=self.limit)
                except subprocess.TimeoutExpired:
                    run.terminate()  # it then ends its ranks, each of which has a session of its own
                    out, err = run.communicate()
                    self.fail(f"the program did not end in {self.limit} s:\n{out}{err}")
                said = [line for line in err.splitlines() if line.startswith("[rank")] or [err]
                self.assertEqual(out.splitlines().count("right"), world, out + "\n".join(said))
                self.seen(world, out)

    def seen(self, world, out):
        """Is called with the output of each program."""

    def test_handle(self):
        self.run_program("""
        t = symm_mem.empty(4, 8, dtype=torch.int32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        same([h.rank, h.world_size, h.buffer_size, h.offset, h.multicast_ptr], [rank, world, 128, 0, 0])
        same([len(h.buffer_ptrs), h.buffer_ptrs[rank], isinstance(h, symm_mem._SymmetricMemory)], [world, t.data_ptr(), True])
        same(symm_mem.rendezvous(t, name) is h, True)
        same(symm_mem.get_backend("cpu"), "SYMMREPL")
        if has("is_symm_mem_tensor"):
            same([symm_mem.is_symm_mem_tensor(t), symm_mem.is_symm_mem_tensor(torch.ones(2))], [True, False])
        t.fill_(rank)
        h.barrier()
        same(h.get_buffer(right, (4, 8), torch.int32), [[right] * 8] * 4)
        same([p[0, 0].item() for p in ops.get_remote_tensors(t, name)], list(range(world)))
        same(h.get_buffer(left, (3,), torch.int16, 2).shape, torch.Size([3]))
        h.barrier(channel=7)
        h.get_buffer(right, (4, 8), torch.int32)[3, 7] = 100 + rank
        h.barrier(channel=1)
        same(t[3, 7].item(), 100 + left)
        dist.barrier()
        pad = h.get_signal_pad(rank)
        same([pad.dtype, pad.numel() * 4, int(pad.to(torch.int64).sum())], [torch.uint32, symm_mem.get_signal_pad_size(), 0])
        dist.barrier()
        out = torch.zeros(8, dtype=torch.int32)
        h.barrier()
        if has("get"):
            symm_mem.get(out, h, right, 8)
            same(out, [right] * 8)
        """)

    def test_signals(self):
        self.run_program("""
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        for i in range(30):
            h.get_buffer(right, t.shape, t.dtype).fill_(10 * i + rank)
            h.put_signal(right, channel=i % 5)
            h.wait_signal(left, channel=i % 5)
            same(t, [10 * i + left] * 8)
            h.barrier(channel=9)
        e = refused(symmrepl.torch.WaitTimeout, "wait_signal on channel 3", h.wait_signal, left, 3, 100)
        same([e.peer, e.channel], [left, 3])
        h.put_signal(right, 4)
        refused(symmrepl.torch.WaitTimeout, "put_signal on channel 4", h.put_signal, right, 4, 100)
        dist.barrier()
        h.wait_signal(left, 4)
        h.barrier()
        """)

    def test_operators(self):
        self.run_program("""
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.int32, torch.int64, torch.uint8):
            for n in (0, 1, 3, 64, 1024 * world):
                t = symm_mem.empty(n, dtype=dtype, device="cpu")
                h = symm_mem.rendezvous(t, G)
                mine = torch.arange(n).remainder(5).add(rank).to(dtype)
                total = [world * (i % 5) + world * (world - 1) // 2 for i in range(n)]
                t.copy_(mine)
                h.barrier()
                same(ops.one_shot_all_reduce(t, "sum", name).to(torch.int64), total)
                same(t.to(torch.int64), mine.to(torch.int64).tolist())
                out = torch.empty_like(mine)
                same(ops.one_shot_all_reduce_out(t, "max", name, out) is out, True)
                same(out.to(torch.int64), [i % 5 + world - 1 for i in range(n)])
                same(ops.one_shot_all_reduce_copy(t, mine, "sum", name).to(torch.int64), total)
                h.barrier()
                if n % world == 0:
                    part = torch.empty(n // world, dtype=dtype)
                    ops.reduce_scatter_out(t, name, False, part)
                    same(part.to(torch.int64), total[rank * (n // world) : (rank + 1) * (n // world)])
                h.barrier()
                h.put_signal(right, 0)  # operators leave the words of the program alone
                ops.two_shot_all_reduce_out(t, "sum", name, out)
                h.wait_signal(left, 0)
                same(out.to(torch.int64), total)
                t.copy_(mine)
                h.barrier()
                same(ops.two_shot_all_reduce_(t, "sum", name) is t, True)
                h.barrier()
                same(t.to(torch.int64), total)
        t = symm_mem.empty(3, 4 * world, dtype=torch.int32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        t.copy_(torch.arange(12 * world).view(3, -1) + rank)
        part = torch.empty(3, 4, dtype=torch.int32)
        h.barrier()
        ops.reduce_scatter_out(t, name, True, part)
        same(part, [[world * (4 * world * i + 4 * rank + j) + world * (world - 1) // 2 for j in range(4)] for i in range(3)])
        refused(symmrepl.torch.Misuse, "that a thread of a GPU reads at once", ops.reduce_scatter_out, t.view(-1)[: 4 * world + 4], name, False, part)
        words = symm_mem.empty(8, dtype=torch.uint32, device="cpu")
        ops.memset32_(words, 2, 7, 3)
        ops.stream_write_value32_(words, 0, 2**32 - 1)
        same(words, [2**32 - 1, 0, 7, 7, 7, 0, 0, 0])
        """)

    def test_gathers(self):
        self.run_program("""
        dtypes = (torch.float32, torch.bfloat16, torch.int64, torch.uint8)
        for dtype in dtypes:
            for n in (0, 1, 5, 3000):
                mine = (torch.arange(2 * n).remainder(5) + rank).to(dtype).view(n, 2)
                every = [(torch.arange(2 * n).remainder(5) + p).view(n, 2) for p in range(world)]
                t = symm_mem.empty(n, 2, dtype=dtype, device="cpu").copy_(mine)
                symm_mem.rendezvous(t, G).barrier()
                for x in (t, mine, mine.t().contiguous().t()):
                    same(ops._low_contention_all_gather(x, name).to(torch.int64), torch.cat(every).tolist())
                out = symm_mem.empty(world * n, 2, dtype=dtype, device="cpu")
                if has("_low_contention_all_gather_ce_multicast"):
                    same(ops._low_contention_all_gather_ce_multicast(mine, name).to(torch.int64), torch.cat(every).tolist())
                    same(ops._low_contention_all_gather_ce_multicast_out(mine, name, out) is out, True)
                    same(out.to(torch.int64), torch.cat(every).tolist())
                    out.zero_()
                dist.barrier()
                if has("memcpy_to_multicast_"):
                    h = symm_mem.rendezvous(out, G)
                    ops.memcpy_to_multicast_(out, mine, rank * mine.nbytes, name)
                    h.barrier()
                    same(out.to(torch.int64), torch.cat(every).tolist())
                for root in range(world):
                    t.copy_(mine)
                    same(ops.nvshmem_broadcast(t, root, name) is t, True)
                    same(t.to(torch.int64), every[root].tolist())
                src, dst = (symm_mem.empty(world, n, dtype=dtype, device="cpu") for _ in range(2))
                for p in range(world):
                    src[p] = 10 * rank + p
                same(ops.nvshmem_all_to_all(src, dst, name) is dst, True)
                same(dst.to(torch.int64), [[10 * p + rank] * n for p in range(world)])
        """)

    def test_all_to_all_nd(self):
        self.run_program("""
        for rows, cols in ((1, 1), (3, 5), (8, 16)) if has("all_to_all_nd") else ():
            x = symm_mem.empty(rows, world * cols, dtype=torch.int32, device="cpu")
            x.copy_(torch.arange(x.numel()).view(x.shape) + 1000 * rank)
            want = [(torch.arange(x.numel()).view(x.shape) + 1000 * p)[:, rank * cols : (rank + 1) * cols].tolist() for p in range(world)]
            for shape in ((world, rows, cols), (world * rows, cols)):
                out = torch.zeros(shape, dtype=torch.int32)
                symm_mem.all_to_all_nd(x, out, 1, 0, group=name)
                same(out.view(world, rows, cols), want)
            ops.nccl_all_to_all_nd(x.view(rows, world, cols), out, 1, 0, name)
            same(out.view(world, rows, cols), want)
            y = x.view(world * rows, cols)
            want = torch.stack([(torch.arange(x.numel()).view(y.shape) + 1000 * p)[rank * rows : (rank + 1) * rows] for p in range(world)], 1).tolist()
            for shape in ((rows, world, cols), (rows, world * cols)):
                out = torch.zeros(shape, dtype=torch.int32)
                symm_mem.all_to_all_nd(y, out, 0, 1, group=name)
                same(out.view(rows, world, cols), want)
        """)

    def test_multimem(self):
        self.run_program("""
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for n in (2, 4, 66, 5000):
                t = symm_mem.empty(n, dtype=dtype, device="cpu")
                mine = torch.arange(n).remainder(4).add(rank).to(dtype)
                total = [world * (i % 4) + world * (world - 1) // 2 for i in range(n)]
                h = symm_mem.rendezvous(t, G)
                t.copy_(mine)
                h.barrier()
                same(ops.multimem_one_shot_all_reduce(t, "sum", name), total)
                out = torch.zeros_like(mine)
                same(ops.multimem_one_shot_all_reduce_out(t, "sum", name, out) is out, True)
                same(out, total)
                out.zero_()
                ops.multimem_one_shot_reduce_out(t, "sum", 1, name, out)
                same(out, total if rank == 1 else [0] * n)
                same(ops.multimem_all_reduce_(t, "sum", name) is t, True)
                same(t, total)
                t.fill_(2 * rank)
                dist.barrier()
                same(ops.multimem_all_reduce_(t, "avg", name), [world - 1] * n)
                out = symm_mem.empty(world * n, dtype=dtype, device="cpu")
                same(ops.multimem_all_gather_out(mine, name, out) is out, True)
                same(out, [i % 4 + p for p in range(world) for i in range(n)])
        """)

    def test_rows(self):
        self.run_program("""
        Misuse, Mismatch = symmrepl.torch.Misuse, symmrepl.torch.Mismatch
        ne = 2
        splits = lambda p: [(p + 2 * k) % 4 for k in range(world * ne)]  # of rank p: for rank k // ne, expert k % ne
        for dtype, width in ((torch.float32, 3), (torch.bfloat16, 8), (torch.int64, 1)):
            x = symm_mem.empty(4 * world * ne, width, dtype=dtype, device="cpu")
            out = symm_mem.empty(16 * world * ne, width, dtype=dtype, device="cpu").fill_(99)
            back = symm_mem.empty(4 * world * ne, width, dtype=dtype, device="cpu").fill_(98)
            mine = splits(rank)
            total = sum(mine)
            x[:total] = (torch.arange(total) % 7 + 10 * rank).to(dtype)[:, None]
            i64 = dict(dtype=torch.int64, device="cpu")
            ins = symm_mem.empty(world * ne, **i64).copy_(torch.tensor(mine))
            outs, backs = symm_mem.empty(2, world * ne, **i64), symm_mem.empty(2, world * ne, **i64)
            for align in (None, 1, 4):
                ops.all_to_all_vdev_2d(x, out, ins, outs, name, align)
                a, at, want, counts, begins = align or 1, 0, {}, [], []
                for e in range(ne):
                    begin = at
                    for p in range(world):
                        k = rank * ne + e
                        first, n = sum(splits(p)[:k]), splits(p)[k]
                        counts.append(n); begins.append(at)
                        for j in range(n):
                            want[at + j] = (first + j) % 7 + 10 * p
                        at += n
                    at = begin + max((at - begin + a - 1) // a * a, a)
                same(outs, [counts, begins])
                same({i: int(out[i, 0]) for i in want}, want)
                ops.all_to_all_vdev_2d_offset(out, back, outs, backs, name)
                same(back[:total], x[:total].tolist())
                same(backs[0], mine)
            one = symm_mem.empty(world, **i64).copy_(torch.tensor([rank + p for p in range(world)]))
            outs1 = symm_mem.empty(2, world, **i64)
            ops.all_to_all_vdev(x, out, one, outs1, name)
            same(outs1[0], [p + rank for p in range(world)])
            got = []
            for p in range(world):
                first = sum(p + q for q in range(rank))
                got += [(first + j) % 7 + 10 * p if first + j < sum(splits(p)) else 0 for j in range(p + rank)]
            same(out[: len(got), 0].to(torch.int64), got)
            one[1] = -1 if rank == 0 else 1
            refused(Misuse, "split 1 of rank 0 is -1", ops.all_to_all_vdev, x, out, one, outs1, name)
            one.fill_(10**6)
            refused(Misuse, "it must be in [0, ", ops.all_to_all_vdev, x, out, one, outs1, name)
            one.fill_(1)
            refused(Misuse, f"rank 0 would receive {world} rows, its out has {world - 1}", ops.all_to_all_vdev, x, out[: world - 1], one, outs1, name)
            ops.all_to_all_vdev(x, out, one, outs1, name)
        """)

    def test_tiles(self):
        self.run_program("""
        Misuse, Mismatch = symmrepl.torch.Misuse, symmrepl.torch.Mismatch
        for dtype in (torch.float32, torch.bfloat16, torch.int32):
            whole = symm_mem.empty(12, 20, dtype=dtype, device="cpu")
            whole.copy_(torch.arange(240).view(12, 20) % 7 + rank)
            dst = symm_mem.empty(12, 20, dtype=dtype, device="cpu")
            symm_mem.rendezvous(whole, G).barrier()
            total = (torch.arange(240).view(12, 20) % 7 * world + world * (world - 1) // 2)
            for r0, c0, n, m in ((0, 0, 12, 20), (3, 5, 4, 7), (1, 4, 8, 8), (2, 0, 1, 1)):
                for root in (0, 1):
                    dst.zero_()
                    ops.tile_reduce(whole[r0 : r0 + n, c0 : c0 + m], dst[r0 : r0 + n, c0 : c0 + m], root, name)
                    want = torch.zeros(12, 20, dtype=torch.int64)
                    if rank == root:
                        want[r0 : r0 + n, c0 : c0 + m] = total[r0 : r0 + n, c0 : c0 + m]
                    same(dst.to(torch.int64), want.tolist())
            dst.zero_()
            tiles = [whole[3 * p : 3 * p + 3, 5:10] for p in range(world)]
            ops.multi_root_tile_reduce(tiles, dst[:3, :5], list(range(world - 1, -1, -1)), name, "sum")
            k = world - 1 - rank
            same(dst[:3, :5].to(torch.int64), total[3 * k : 3 * k + 3, 5:10].tolist())
            refused(Misuse, "is the root of two tiles", ops.multi_root_tile_reduce, tiles[:2], dst[:3, :5], [0, 0], name)
            for dim in (0, 1) if has("reduce_scatter_offset") else ():
                length = whole.shape[dim]
                out = torch.zeros((12 // world, 20) if dim == 0 else (12, 20 // world), dtype=dtype)
                symm_mem.reduce_scatter_offset(whole, [out], name, dim=dim)
                same(out.to(torch.int64), total.chunk(world, dim)[rank].tolist())
                bounds = [0, 3, 4, 4, 10]
                parts = [(bounds[i], bounds[i + 1]) for i in range(4) if (i + 1) % world == rank]
                cut = lambda t, lo, hi: t[lo:hi] if dim == 0 else t[:, lo:hi]
                outs = [torch.zeros_like(cut(total, *p)).to(dtype) for p in parts]
                ops.nccl_reduce_scatter_offset(whole, outs, name, dim, bounds[1:], [(i + 1) % world for i in range(4)], "sum")
                same([o.tolist() for o in outs], [cut(total, *p).tolist() for p in parts])
            if has("reduce_scatter_offset"):
                refused(Misuse, "out has 0 tensors", ops.nccl_reduce_scatter_offset, whole, [], name, 0)
        """)

    def test_one_sided(self):
        self.run_program("""
        Misuse, Mismatch = symmrepl.torch.Misuse, symmrepl.torch.Mismatch
        t = symm_mem.empty(3000, dtype=torch.int32, device="cpu")
        flag = symm_mem.empty(4, dtype=torch.int64, device="cpu")
        h, hf = symm_mem.rendezvous(t, G), symm_mem.rendezvous(flag, G)
        for put, get in ((ops.nvshmem_put, ops.nvshmem_get), (ops.nccl_put, ops.nccl_get)):
            t.fill_(rank)
            h.barrier()
            if rank == 0:
                put(t[5:9], 1)
            h.barrier()
            same(t[3:11], [rank] * 2 + [0 if rank == 1 else rank] * 4 + [rank] * 2)
            if rank == 0:
                get(t[:2501], 1)
                same(t[:12], [1] * 5 + [0] * 4 + [1] * 3)
            h.barrier()
        for i in range(1, 4):
            t.fill_(10 * i + rank)
            h.barrier()
            if rank == 0:
                for p in range(1, world):
                    ops.nvshmem_put_with_signal(t, h.get_signal_pad(rank, (1,), torch.int64, 7), i, p)
            else:
                ops.nvshmem_wait_for_signal(h.get_signal_pad(rank, (1,), torch.int64, 7), i, 0)
                same(t[::999], [10 * i] * 4)
            h.barrier()
            if rank == 1:
                ops.nvshmem_put_with_signal(t[7:8], flag[2:], 2**40 + i, 0)
            if rank == 0:
                ops.nvshmem_wait_for_signal(flag[2:], 2**40 + i, 1)
                same(t[6:9], [10 * i, 10 * i, 10 * i])
            h.barrier()
            t.fill_(20 * i + rank)
            h.barrier()
            if rank == 1:
                ops.nccl_put_with_signal(t, 100 + i, 0)
            if rank == 0:
                ops.nccl_wait_for_signal(t, 100 + i)
                same(t[0].item(), 20 * i + 1)
            h.barrier()
        mine = torch.full((7,), rank, dtype=torch.int32)
        for i in range(3):
            h.barrier()
            symm_mem.put_signal(mine + i, h, right)
            symm_mem.wait_signal(h, left)
            same(t[:7], [left + i] * 7)
        out = torch.zeros(5, dtype=torch.int32)
        t.copy_(torch.arange(3000) + rank)
        h.barrier()
        if has("nccl_get_out"):
            ops.nvshmem_get_out(out, h, 10, 3, right)
            same(out, [10 + right, 11 + right, 12 + right, 0, 0])
            ops.nccl_get_out(out, h, 1, 5, left)
            same(out, [1 + left + i for i in range(5)])
        ops._barrier(h)
        same(ops._rendezvous(t, name) is h, True)
        fresh = symm_mem.empty(4, device="cpu")
        get_out, nd, multicast = (getattr(ops, n, None) for n in ("nccl_get_out", "nccl_all_to_all_nd", "memcpy_to_multicast_"))
        for call, args, text in (
            (ops.nvshmem_put, (t, world), "peer is"), (ops.nvshmem_get, (torch.ones(2), 0), "not symmetric"), (ops.nccl_put, (fresh, 0), "no rendezvous"),
            (ops.nvshmem_put, (t[::2], 0), "not contiguous"), (ops.nvshmem_wait_for_signal, (torch.zeros(1, dtype=torch.int64), 1, 0), "no signal pad"),
            (ops.nvshmem_wait_for_signal, (torch.zeros(1, dtype=torch.int32), 1, 0), "a word of 64 bits"), (get_out, (out, h, 2999, 2, 0), "on end at byte"),
            (get_out, (out, None, 0, 2, 0), "the handle is NoneType"), (ops.nccl_put_signal, (mine, h, rank), "is this rank"),
            (ops.nccl_wait_for_signal, (torch.zeros(1, dtype=torch.int64), 1), "no signal pad"), (multicast, (t, mine, 11990, name), "do not fit"),
            (ops.multimem_all_reduce_, (t, "sum", name), "multicast adds"), (ops.multimem_all_reduce_, (fresh, "max", name), "no reduction 'max'"),
            (ops.nvshmem_broadcast, (t, -1, name), "root is -1"), (ops.nvshmem_all_to_all, (t, t, name), "out overlaps input"),
            (ops.tile_reduce, (t, t, 0, name), "rows of contiguous elements"), (nd, (t.view(100, 30), out, 0, 0, name), "scatter_dim 0 with"),
            (ops._low_contention_reduce_scatter, (t[: world + 1], "sum", name), "not divisible"), (ops._low_contention_reduce_scatter, (t, "max", name), "no reduction"),
            (ops.fused_all_gather_matmul, (torch.ones(2, 3), [torch.ones(2, 3)], 0, name), "must have 3 rows"),
            (ops.fused_matmul_reduce_scatter, (torch.ones(world + 1, 3), torch.ones(3, 3), "sum", 0, name), "ranks divide"),
            (ops._async_input_mm, (torch.ones(4, 2), torch.ones(2, 2), torch.zeros(2, dtype=torch.uint32), 0), "chunks [0, 1] have no signal"),
        ):
            if call is None:
                continue
            e = refused(Misuse, text, call, *args)
            if "prog.py:" not in str(e):
                raise AssertionError(str(e))
        refused(Mismatch, "root is ", ops.nvshmem_broadcast, t, min(rank, 1), name)
        h.barrier()
        """)

    def test_products(self):
        self.run_program("""
        a = (torch.arange(world * 2 * 3 * 4) % 5 - 2).view(world * 2, 3, 4).float()
        bs = [(torch.arange(4 * k) % 3 - 1).view(4, k).float() for k in (1, 6)]
        for dtype in (torch.float32, torch.bfloat16):
            for dim in (0, 1, 2, -1):
                if dim in (2, -1):
                    full = torch.cat([a[:2] + p for p in range(world)], -1)
                    factors = [torch.cat([b] * world).to(dtype) for b in bs]
                else:
                    full = torch.cat([a[:2] + p for p in range(world)], dim)
                    factors = [b.to(dtype) for b in bs]
                got, products = ops.fused_all_gather_matmul((a[:2] + rank).to(dtype), factors, dim, name)
                same(got, full.tolist())
                same([p.tolist() for p in products], [(full @ b.float()).tolist() for b in factors])
            same(ops.fused_all_gather_matmul((a[:2] + rank).to(dtype), [bs[0].to(dtype)], 0, name, return_A=False)[0], None)
            for dim in (0, 2):
                b = (torch.arange(4 * 2 * world) % 3 - 1).view(4, 2 * world).float()
                total = sum((a + p) @ b for p in range(world))
                got = ops.fused_matmul_reduce_scatter((a + rank).to(dtype), b.to(dtype), "sum", dim, name)
                same(got, total.chunk(world, dim)[rank].tolist())
            same(ops.fused_matmul_reduce_scatter(a.to(dtype), b.to(dtype), "avg", 0, name), (a @ b).chunk(world)[rank].tolist())
            for x in ((a + rank).to(dtype), symm_mem.empty(a.shape, dtype=dtype, device="cpu").copy_(a + rank)):
                dist.barrier()
                same(ops._low_contention_reduce_scatter(x, "sum", name), (world * a + world * (world - 1) / 2).chunk(world)[rank].tolist())
        f8 = torch.float8_e4m3fn
        a8 = (torch.arange(world * 32 * 32) % 3).view(world * 32, 32).float()
        b8 = (torch.arange(32 * 16) % 2).view(16, 32).float().t()
        one, two = torch.tensor(1.0), torch.tensor(2.0)
        shard = a8[rank * 32 : rank * 32 + 32].to(f8)
        full, (got,) = ops.fused_all_gather_scaled_matmul(shard, [b8.to(f8)], two, [one], 0, name, [None], [None], [torch.bfloat16], [False])
        same(full.float(), a8.tolist())
        same(got.float(), (2 * (a8 @ b8)).to(torch.bfloat16).float().tolist())
        full, (got,) = ops.fused_all_gather_scaled_matmul(shard, [b8.to(f8)], torch.full((32, 1), 1.0 + rank), [torch.ones(1, 16)], 0, name, [None], [None], [torch.bfloat16], [False])
        scales = torch.arange(1, world + 1).repeat_interleave(32)[:, None].float()
        same(got.float(), (scales * (a8 @ b8)).to(torch.bfloat16).float().tolist())
        got = ops.fused_scaled_matmul_reduce_scatter(a8.to(f8), b8.to(f8), two, one, "avg", 0, 0, name, [world * 32, 16], None, None, torch.float32)
        same(got, (2 * (a8 @ b8)).chunk(world)[rank].tolist())
        same(ops._async_input_mm(a[0], bs[0], torch.ones(1, dtype=torch.uint32), 0), (a[0] @ bs[0]).tolist())
        """)

    def test_numeric_order(self):
        # Ranks add in rank order, in the type of the elements.
        self.run_program("""
        t = symm_mem.empty(1, dtype=torch.bfloat16, device="cpu").fill_(1 if rank else 256)
        symm_mem.rendezvous(t, G).barrier()
        same(ops.one_shot_all_reduce(t, "sum", name), [256])
        """, 4)  # fmt: skip

    def test_kernels(self):
        self.run_program('''
        TEXT = """
        extern "C" __global__ void one_shot(float** bufs, unsigned** pads, float* out, int n, int rank, int world) {
          if (threadIdx.x < world && threadIdx.x != rank) {
            while (atomicCAS_system(pads[threadIdx.x] + rank, 0u, 1u) != 0u) ;
            while (atomicCAS_system(pads[rank] + threadIdx.x, 1u, 0u) != 1u) ;
          }
          __syncthreads();
          for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float total = 0;
            for (int p = 0; p < world; p++) total += bufs[p][i];
            out[i] = total;
          }
        }
        """
        t = symm_mem.empty(1000, dtype=torch.float32, device="cpu").fill_(rank + 1)
        h = symm_mem.rendezvous(t, G)
        k = symmrepl.torch.compile(TEXT, "one_shot")
        out = torch.zeros(1000)
        for i in range(5):
            k(grid=(1, 1, 1), block=(256, 1, 1), args=(h.buffer_ptrs_dev, h.signal_pad_ptrs_dev, out, 1000, rank, world))
            same(out, [world * (world + 1) / 2] * 1000)
        right_args = [h.buffer_ptrs_dev, h.signal_pad_ptrs_dev, out, 1000, rank, world]
        for i, wrong, text in (
            (2, out.to(torch.int32), "elements are torch.int32"), (2, torch.zeros(10, 10).t(), "not contiguous"), (3, 1.5, "takes no float"),
            (3, 2**40, "does not fit"), (3, out, "pass a number"), (2, None, "not NoneType"), (0, -1, "no address"), (4, "0", "not str"),
        ):
            args = list(right_args)
            args[i] = wrong
            same(refused(symmrepl.torch.LaunchError, text, k, (1,), (32,), args).argument, i)
        refused(symmrepl.torch.LaunchError, "takes 6 arguments, not 5", k, (1,), (32,), right_args[:5])
        for grid, block, shared in (((0,), (32,), 0), ((1,), (2000,), 0), (3, (1,), 0), ((1, 1, 1, 1), (1,), 0), ((1,), (1.5,), 0), ((1,), (1,), -1)):
            refused(symmrepl.torch.LaunchError, "", k, grid, block, right_args, shared)
        refused(symmrepl.torch.CompileError, "prog.cu:7:", symmrepl.torch.compile, "__global__ void f() { return x; }", "f", file="prog.cu", line=7)
        refused(symmrepl.torch.LaunchError, "no kernel g; it has one_shot", symmrepl.torch.compile, TEXT, "g")
        refused(TypeError, "", symmrepl.torch.compile, None, "g")
        ''')

    def test_misuse(self):
        self.run_program("""
        from symmrepl.torch import Misuse
        t, wide = (symm_mem.empty(n, dtype=torch.float32, device="cpu") for n in (8, 4 * world))
        h = symm_mem.rendezvous(t, G)
        most = symm_mem.get_signal_pad_size() // 4 // world
        h.barrier(most - 1)
        for call, args, text in (
            (h.barrier, (most,), "maximum supported channel"), (h.barrier, (-1,), "must be non-negative"), (h.put_signal, (world,), "must be in [0"),
            (h.wait_signal, (-1,), "must be in [0"), (h.put_signal, (0, most), "maximum supported channel"), (h.wait_signal, (0, 0, -5), "must be non-negative"),
            (h.get_buffer, (world, (8,), torch.float32), "must be in [0"), (h.get_buffer, (0, (9,), torch.float32), "exceeds the allocated size"),
            (h.get_buffer, (0, (8,), torch.float32, 1), "exceeds the allocated size"), (h.get_buffer, (0, (-1,), torch.float32), "below 0"),
            (h.get_signal_pad, (0, (10**6,)), "exceeds the allocated size"), (h.get_remote_tensor, (0, (16,), torch.float32), "exceeds"),
            (symm_mem.rendezvous, (torch.ones(8), G), "not symmetric"), (ops.one_shot_all_reduce, (torch.ones(8), "sum", name), "not symmetric"),
            (ops.one_shot_all_reduce, (t, "product", name), "no reduction 'product'"), (ops.one_shot_all_reduce, (t[::2], "sum", name), "not contiguous"),
            (ops.one_shot_all_reduce, (t, "sum", "nosuch"), "no group 'nosuch'"), (ops.one_shot_all_reduce_out, (t, "sum", name, torch.ones(7)), "it must be"),
            (ops.reduce_scatter_out, (t[:7], name, False, torch.ones(1)), "divisible"), (ops.memset32_, (t, 0, 1, 1), "uint32"),
            (ops.reduce_scatter_out, (wide, name, False, torch.ones(8)), "it must have"), (h.boxed, (), "pass the handle itself"),
        ):
            e = refused(Misuse, text, call, *args)
            if "prog.py:" not in str(e):
                raise AssertionError(str(e))
        refused(TypeError, "", h.barrier, "0")
        refused(TypeError, "", h.put_signal, None)
        h.barrier()
        """)

    def test_interrupted(self):
        # An operator that was interrupted leaves the other ranks behind, so its group is of no use.
        self.run_program("""
        import signal
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu").fill_(rank)
        symm_mem.rendezvous(t, G).barrier()
        same(ops.one_shot_all_reduce(t, "sum", name), [world * (world - 1) / 2] * 8)
        other = dist.new_group()
        if rank == 0:
            def alarm(*_):
                raise TimeoutError("the alarm")
            signal.signal(signal.SIGALRM, alarm)
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            refused(TimeoutError, "the alarm", ops.one_shot_all_reduce, t, "sum", name)
            refused(symmrepl.torch.Misuse, "one_shot_all_reduce was interrupted", ops.two_shot_all_reduce_, t, "sum", name)
        dist.barrier()
        same(ops.one_shot_all_reduce(t, "sum", other.group_name), [world * (world - 1) / 2] * 8)
        """, 2)  # fmt: skip

    def test_mismatch(self):
        self.run_program("""
        t = symm_mem.empty(8 + (rank == 1), dtype=torch.float32, device="cpu")
        refused(symmrepl.torch.Mismatch, "bytes here and", symm_mem.rendezvous, t, G)
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        symm_mem.rendezvous(t, G).barrier()
        """)

    def test_versions(self):
        self.run_program("""
        from symmrepl.torch import groups
        ours = groups.__version__
        if rank == 1:
            groups.__version__ = "0.0.9"
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        text = f"symmrepl is 0.0.9 here and {ours} on rank 0: install one version" if rank == 1 else f"symmrepl is {ours} here and 0.0.9 on rank 1: install one version"
        for call, args in ((symm_mem.rendezvous, (t, G)), (ops._low_contention_all_gather, (torch.ones(2), name))):
            refused(symmrepl.torch.Mismatch, text, call, *args)
        """)

    def test_differing(self):
        # Ranks that make different calls all learn it before anything runs, and go on.
        self.run_program("""
        import time
        Mismatch = symmrepl.torch.Mismatch
        t, u = (symm_mem.empty(16, dtype=torch.float32, device="cpu").fill_(rank) for _ in range(2))
        other = symm_mem.empty(16, dtype=torch.int32, device="cpu")
        for x in (t, u, other):
            symm_mem.rendezvous(x, G)
        odd = rank == world - 1
        total = [world * (world - 1) / 2] * 16
        for late in (0, 0.1):
            if odd:
                time.sleep(late)
            for call, args, text in (
                (ops.one_shot_all_reduce, (t[:8] if odd else t, "sum", name), "input is torch.float32["),
                (ops.one_shot_all_reduce, (other if odd else t, "sum", name), "input is torch."),
                (ops.one_shot_all_reduce, (t, "max" if odd else "sum", name), "reduce_op is "),
                (ops.one_shot_all_reduce, (u if odd else t, "sum", name), "the memory of input is allocation number "),
                (ops.one_shot_all_reduce, (t[8:] if odd else t[:8], "sum", name), "from byte "),
                (ops.two_shot_all_reduce_ if odd else ops.one_shot_all_reduce, (t, "sum", name), f"calls {'one' if odd else 'two'}_shot_all_reduce"),
                (ops.one_shot_all_reduce, (t[:0] if odd else t, "sum", name), "input is torch.float32["),
            ):
                e = refused(Mismatch, text, call, *args)
                if not all(word in str(e) for word in (f"rank {rank}: ", " on rank " if "calls" not in text else " calls ", "prog.py:")):
                    raise AssertionError(str(e))
            same(ops.one_shot_all_reduce(t, "sum", name), total)
        new = symm_mem.empty(16, dtype=torch.float32, device="cpu")
        if odd:
            refused(Mismatch, "allocation new", ops.one_shot_all_reduce, new, "sum", name)
        else:
            refused(Mismatch, "allocation new", ops.one_shot_all_reduce, t, "sum", name)
        same(ops.one_shot_all_reduce(new.fill_(rank), "sum", name), total)
        n = 4096 * world + 1  # slices of different sizes
        ops.two_shot_all_reduce_(symm_mem.empty(n, device="cpu").fill_(rank), "sum", name)
        """)

    def test_subgroups(self):
        self.run_program("""
        t = symm_mem.empty(4, dtype=torch.int32, device="cpu").fill_(rank)
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        mine = pairs[rank // 2]
        h = symm_mem.rendezvous(t, mine)
        same([h.rank, h.world_size], [rank % 2, 2])
        w = symm_mem.rendezvous(t, G)
        same([w.rank, w.world_size], [rank, 4])
        h.barrier()
        same(h.get_buffer(1 - h.rank, (4,), torch.int32), [rank ^ 1] * 4)
        same(ops.one_shot_all_reduce(t, "sum", mine.group_name), [1 if rank < 2 else 5] * 4)
        same(ops.one_shot_all_reduce(t, "sum", name), [6] * 4)
        w.barrier()
        """, 4)  # fmt: skip

    def test_memory(self):
        self.run_program("""
        import os
        empty = symm_mem._SymmetricMemory.empty_strided_p2p
        cpu = torch.device("cpu")
        used = lambda: len(os.listdir("/proc/self/fd"))
        before = used()
        for _ in range(20):
            t = symm_mem.empty(1 << 16, device="cpu")
            symm_mem.rendezvous(t, G)
        view = t[5:9]
        at = t.data_ptr()
        del t
        view.fill_(3)
        same(view, [3] * 4)
        del view
        same(used() <= before + 1, True)
        a = empty((4,), (1,), torch.float32, cpu, name, 42)
        at = a.data_ptr()
        refused(symmrepl.torch.Misuse, "still active", empty, (4,), (1,), torch.float32, cpu, name, 42)
        part = a[1:]
        del a
        refused(symmrepl.torch.Misuse, "still active", empty, (4,), (1,), torch.float32, cpu, name, 42)
        del part
        refused(symmrepl.torch.Misuse, "bytes, not", empty, (5,), (1,), torch.float32, cpu, name, 42)
        same(empty((4,), (1,), torch.float32, cpu, name, 42).data_ptr(), at)
        w = symm_mem.get_symm_mem_workspace(name, 100)
        same(symm_mem.get_symm_mem_workspace(name, 50) is w, True)
        same(symm_mem.get_symm_mem_workspace(name, 200).buffer_size, 200)
        same(symm_mem.empty((), device="cpu").shape, torch.Size([]))
        refused(symmrepl.torch.Unavailable, "bytes", symm_mem.empty, 1 << 58, device="cpu")
        """)

    def test_pools(self):
        self.run_program("""
        pool = symm_mem.get_mem_pool("cpu")
        same(symm_mem.get_mem_pool(torch.device("cpu")) is pool, True)
        a, b = torch.full((1, 64), rank + 1.0, requires_grad=True), torch.ones(64, 32)
        with torch.cuda.use_mem_pool(pool):
            x = torch.arange(1000)
            y = torch.mm(a, b)
            z = x.view(10, 100)[3:]
            x += 1
            s, t = torch.ones(8).split(4)
            e = torch.empty(0)
        later = torch.ones(4)
        same([symmrepl.torch.memory.find(u) is not None for u in (x, y, z, s, t, later, a, b)], [True] * 5 + [False] * 3)
        same([x.data_ptr() + 2400, s.data_ptr() + 16], [z.data_ptr(), t.data_ptr()])
        same(x, list(range(1, 1001)))
        y.sum().backward()
        same(a.grad, [[32.0] * 64])
        same(ops.one_shot_all_reduce(y.detach(), "sum", name), [[32.0 * world * (world + 1)] * 32])
        for i in range(3):
            with torch.get_device_module("cpu").use_mem_pool(pool):
                u = torch.full((5000,), rank)
            h = symm_mem.rendezvous(u, G)
            h.barrier(timeout_ms=60000)
            same(h.get_buffer(right, (5000,), torch.int64)[4999].item(), right)
            same(i == 0 or u.data_ptr() == at, True)
            at = u.data_ptr()
            h.barrier(timeout_ms=60000)
            del u, h
        refused(symmrepl.torch.Misuse, "one of symm_mem.get_mem_pool", torch.cpu.use_mem_pool(None).__enter__)
        refused(symmrepl.torch.Misuse, "get_mempool_allocator", torch.cpu.MemPool)
        """)

    def test_fsdp(self):
        # FSDP allocates in a pool and passes what it gathers to rendezvous.
        self.run_program("""
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        def made():
            torch.manual_seed(0)
            return torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Linear(16, 16))
        plain, model = made(), made()
        for layer in (*model, model):
            fully_shard(layer, mesh=init_device_mesh("cpu", (world,)))
        if hasattr(model, "set_symm_mem_for_comm"):
            model.set_symm_mem_for_comm()
        x = torch.randn(4, 16, generator=torch.Generator().manual_seed(rank))
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, plain)]
        for _ in range(3):
            losses = [m(x).square().mean() for m in (model, plain)]
            same(torch.allclose(*losses), True)
            for loss in losses:
                loss.backward()
            for p in plain.parameters():
                dist.all_reduce(p.grad)
                p.grad /= world
            for o in optimizers:
                o.step()
                o.zero_grad()
        """, 2)  # fmt: skip

    def test_as_pytorch(self):
        # What PyTorch's own code asks, and compiled code relies on.
        self.run_program("""
        R = symm_mem._SymmetricMemory
        same([R.rendezvous(torch.ones(3)), symm_mem.is_symm_mem_enabled_for_group(name), symm_mem.is_symm_mem_enabled_for_group("none")], [None, True, False])
        for backend in ("CUDA", "NVSHMEM", "NCCL"):
            symm_mem.set_backend(backend)
            same(symm_mem.get_backend("cpu"), "SYMMREPL")
        refused(RuntimeError, "", symm_mem.set_backend, "nosuch")
        words = symm_mem.empty(8, dtype=torch.uint32, device="cpu")
        for args, text in (
            ((words.view(2, 4), 0, 1, 1), "input must be a flat, contiguous uint32 tensor"), ((words, -1, 1, 1), "offset must be greater than or equal to 0"),
            ((words, 0, 1, 0), "count must be a positive integer"), ((words, 0, 2**32, 1), "val must be in the range of [0, 4294967295] (uint32_t)"),
            ((words, 8, 1, 1), "exceeded the numel of the input"),
        ):
            refused(RuntimeError, text, R.memset32, *args)
        for dim in range(3):
            shape = [4, 6, 8]
            a = torch.rand(shape)
            b = torch.rand(shape[2] * (world if dim == 2 else 1), 5)
            for got, want in zip(ops.fused_all_gather_matmul(a, [b], dim, name), symm_mem._fused_all_gather_matmul_fallback(a, [b], dim, name)):
                for g, w in ((got, want),) if isinstance(got, torch.Tensor) else zip(got, want):
                    same([g.shape, g.stride(), torch.allclose(g, w)], [w.shape, w.stride(), True])
            a, b = torch.rand(4, 8, 3), torch.rand(3, 4)
            g, w = ops.fused_matmul_reduce_scatter(a, b, "avg", dim, name), symm_mem._fused_matmul_reduce_scatter_fallback(a, b, "avg", dim, name)
            same([g.shape, g.stride(), torch.allclose(g, w)], [w.shape, w.stride(), True])
        """)

    def test_compiled(self):
        self.run_program("""
        t = symm_mem.empty(4, 4, dtype=torch.float32, device="cpu").fill_(rank + 1)
        symm_mem.rendezvous(t, G).barrier()
        eye = torch.eye(4)
        whole = [[float(p + 1)] * 4 for p in range(world) for _ in range(4)]
        for f, want in (
            (lambda x: ops._low_contention_all_gather(x, name) * 2, (2 * torch.tensor(whole)).tolist()),
            (lambda x: ops._low_contention_reduce_scatter(x, "sum", name) + 1, [[world * (world + 1) / 2 + 1] * 4] * (4 // world)),
            (lambda x: ops.fused_all_gather_matmul(x, [eye], 0, name)[1][0] + 1, (torch.tensor(whole) + 1).tolist()),
            (lambda x: ops.fused_matmul_reduce_scatter(x, eye, "sum", 0, name), [[world * (world + 1) / 2] * 4] * (4 // world)),
            (lambda x: ops.one_shot_all_reduce_copy(t, x * 2, "sum", name), [[world * (world + 1.0)] * 4] * 4),
        ):
            g = torch.compile(f, backend="aot_eager")
            for _ in range(2):
                t.fill_(rank + 1)
                dist.barrier()
                same(g(t), want)
        f = torch.compile(lambda x: ops.one_shot_all_reduce(x, "sum", name) * 2 + 1, backend="aot_eager")
        t.fill_(rank + 1)
        dist.barrier()
        for _ in range(3):
            same(f(t), [[world * (world + 1) + 1] * 4] * 4)
        """, 2)  # fmt: skip

    def test_inductor(self):
        # Inductor places the operands of operators in symmetric memory, by itself.
        self.run_program("""
        if not shutil.which("g++"):
            raise SystemExit(print("right"))
        from torch._inductor.utils import run_and_get_code
        w = torch.eye(8) * 2
        f = torch.compile(lambda x: ops.one_shot_all_reduce((x @ w) * 3, "sum", name) + 1, fullgraph=True)
        x = torch.full((8, 8), rank + 1.0)
        want = [[3.0 * world * (world + 1) + 1] * 8] * 8
        got, codes = run_and_get_code(f, x)
        same(got, want)
        if "SYMMREPL_SANITIZE" not in os.environ:  # with it there is no code
            same(["empty_strided_p2p(" in codes[0], "one_shot_all_reduce" in codes[0]], [True, True])
        for _ in range(3):
            same(f(x), want)
        g = torch.compile(lambda x: ops.one_shot_all_reduce(x, "sum", "nosuch"))
        e = refused(symmrepl.torch.Misuse, "there is no group 'nosuch'", g, x)
        same(["While executing" in str(e), e.where.split("/")[-1].split(":")[0]], [False, "prog.py"])
        g = torch.compile(lambda x: ops.fused_all_gather_matmul(x, [w], 0, name)[1][0] + 1)
        same(g(x[:2]), [[2.0 * (p + 1) + 1] * 8 for p in range(world) for _ in range(2)])
        """, 2)  # fmt: skip

    def test_registered_operands(self):
        # Inductor places the operands that an operator of another library has named.
        self.run_program("""
        if not shutil.which("g++") or not hasattr(torch.library.Library, "register_symm_mem_args"):
            raise SystemExit(print("right"))
        library = torch.library.Library("mine", "FRAGMENT")
        library.define("gather(Tensor[] inputs, Tensor plain, str group_name) -> Tensor")
        library.register_symm_mem_args("gather", ["inputs"])

        def gather(inputs, plain, group_name):
            where = refused(symmrepl.torch.Misuse, "is not symmetric", lambda: ops.one_shot_all_reduce(plain, "sum", group_name)).where
            same(where.split(":")[-1], str(sys._getframe().f_lineno - 1))  # at its own line, not that of the compiled function
            same([symm_mem.is_symm_mem_tensor(t) for t in (*inputs, plain)], [True] * len(inputs) + [False])
            return sum(ops.one_shot_all_reduce(t, "sum", group_name) for t in inputs) + plain

        library.impl("gather", gather, "CPU")
        library.impl("gather", lambda inputs, plain, group_name: torch.empty_like(plain), "Meta")
        f = torch.compile(lambda x: torch.ops.mine.gather([x * 2, x + 1], x * 3, name) - 1, fullgraph=True)
        total = world * (world + 1) / 2
        for _ in range(3):
            same(f(torch.full((4, 8), rank + 1.0)), [[3 * total + world + 3 * (rank + 1) - 1] * 8] * 4)
        """, 2)  # fmt: skip

    def test_table(self):
        import torch
        from symmrepl.torch import operators, placing

        self.assertEqual([name for name in operators.names() if name not in operators.ROWS], [])
        for name, arguments in placing.OPERANDS.items():
            if hasattr(torch.ops.symm_mem, name):
                schema = getattr(torch.ops.symm_mem, name).default._schema
                self.assertLessEqual({*arguments, "group_name"}, {a.name for a in schema.arguments}, name)
        if torch.__version__.startswith("2.15."):
            page = pathlib.Path(__file__).parents[2].joinpath("docs", "pytorch.md").read_text()
            self.assertIn("\n" + operators.table() + "\n", page)

    def test_page(self):
        page = pathlib.Path(__file__).parents[2].joinpath("docs", "pytorch.md").read_text()
        parts = (page, page.partition("\n## Kernels\n")[2])
        blocks = [part.partition("```python\n")[2].partition("```")[0] for part in parts]
        self.assertTrue(all(blocks))
        self.run_program(f"exec({blocks[0]!r}.replace('dist.init_process_group', 'str'))\nh.barrier()\nexec({blocks[1]!r})\nsame(out, [sum(range(world))] * 1024)")


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Imports(unittest.TestCase):
    """What is refused or warned of before a program begins, and ranks that lack the import."""

    def ran(self, text, *flags):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "prog.py")
            program.write_text(textwrap.dedent(text))
            environment = {**os.environ, "SYMMREPL_PYTHON": sys.executable}
            command = [os.environ["SYMMREPL"], "torchrun", *flags] if flags else [sys.executable]
            return subprocess.run([*command, program], capture_output=True, text=True, timeout=120, env=environment)

    def test_newer(self):
        run = self.ran("""
        import warnings, torch
        ours, torch.__version__ = torch.__version__, "2.99.0"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            import symmrepl.torch
        print(*(str(w.message) for w in said if "symmrepl" in str(w.message)))
        import torch.distributed._symmetric_memory as symm_mem
        print(symm_mem.empty(3, device="cpu").tolist())
        """)
        self.assertEqual((run.returncode, run.stdout), (0, "symmrepl.torch knows PyTorch up to 2.15, and this is 2.99.0\n[0.0, 0.0, 0.0]\n"), run.stderr)

    def test_late_import(self):
        run = self.ran("""
        import os, torch, torch.distributed as dist
        import torch.distributed._symmetric_memory as symm_mem
        dist.init_process_group("gloo")
        try:
            symm_mem.empty(4, device="cpu")
        except RuntimeError as e:
            print(str(e).splitlines()[0], flush=True)
        if dist.get_rank() == 0:
            import symmrepl.torch
        symm_mem.rendezvous(symm_mem.empty(4, device="cpu"), dist.group.WORLD)
        """, "-n", "2")  # fmt: skip
        self.assertEqual((run.returncode, run.stdout), (1, "[0,1] SymmetricMemory does not support device type cpu\n"), run.stderr)
        self.assertIn("[1] RuntimeError: SymmetricMemory does not support device type cpu", run.stderr)
        self.assertRegex(run.stderr, r"rank 1 exited with status 1; the other ranks are ended:\n +rank 0  waits in rendezvous at .*prog.py:11 for rank 1")


TELL = """
import json
from symmrepl.emulator import sanitize
sanitize.deliver = lambda report: print("report " + json.dumps(report) + "\\n", end="", flush=True)
"""


def told(f):
    """Returns a finding as one text."""
    accesses = [f"{a.get('launched')} rank {a['rank']} {a.get('kernel')} {a['op']} {a.get('source', '')} {a.get('call', '')}" for a in f["accesses"]]
    return "\n  ".join([f"{f['kind']}: {f.get('memory')}: {f.get('order')}", *accesses])


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Sanitized(unittest.TestCase):
    """The same programs are silent under the sanitizer, and wrong ones are not."""

    def findings(self, text, world=2, seed=0):
        from symmrepl.emulator.companion import Companion

        keeper = Companion()
        reports = []

        class Run(Programs):
            environment = {"SYMMREPL_SANITIZE": keeper.shadow(), "SYMMREPL_SEED": str(seed)}

            def seen(self, world, out):
                reports.extend(json.loads(line[7:]) for line in out.splitlines() if line.startswith("report "))

        Run("run_program").run_program(TELL + textwrap.dedent(text), world)
        self.assertEqual(sorted(r["rank"] for r in reports if r.get("ended")), list(range(world)))
        self.unseen = [u["what"] for r in reports for u in r["unseen"]]
        return keeper.findings(reports)

    def test_fill(self):
        found = self.findings("""
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        if rank == 0:
            t.fill_(1)
        else:
            h.get_buffer(0, (8,), torch.float32).sum()
        h.barrier()
        """)
        self.assertEqual([f["kind"] for f in found], ["race with the host"])
        self.assertEqual({a["source"].strip() for a in found[0]["accesses"]}, {"t.fill_(1)", "h.get_buffer(0, (8,), torch.float32).sum()"})
        self.assertIn("h.barrier()", found[0]["repair"])

    def test_kernel_against_aten(self):
        # Rows that race, columns beside them that do not, and a barrier between two accesses.
        found = self.findings('''
        k = symmrepl.torch.compile("""
        extern "C" __global__ void add(float* x, int n) {
          if (threadIdx.x < n) x[threadIdx.x] += 1;
        }
        """, "add", file="add.cu")
        t = symm_mem.empty(4, 8, dtype=torch.float32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        if rank == 0:
            t[:, 2:4] = 1
            t[1:].fill_(2)
        else:
            k(args=(h.get_buffer(0, (2,), torch.float32), 2), block=(32, 1, 1))
        h.barrier()
        if rank == 0:
            t.zero_()
        dist.barrier()
        if rank == 1:
            k(args=(h.get_buffer(0, (2, 8), torch.float32), 16), block=(32, 1, 1))
        dist.all_reduce(torch.ones(1))
        if rank == 0:
            t.copy_(t.t().reshape(4, 8))
        h.barrier()
        if rank == 1:
            k(args=(h.get_buffer(0, (4,), torch.float32), 4), block=(32, 1, 1))
        else:
            t.numpy()[0, 0] = 1
            t.tolist()
        ''')
        self.assertEqual([f["kind"] for f in found], ["race with the host"], "\n".join(told(f) for f in found))
        self.assertEqual({a["source"].strip() for a in found[0]["accesses"]}, {"t.tolist()", "if (threadIdx.x < n) x[threadIdx.x] += 1;"})
        self.assertIn("in float32[4, 8]", found[0]["memory"])
        self.assertEqual(self.unseen, ["Tensor.numpy"])

    def test_other_tensors(self):
        # A kernel's accesses of tensors that are not symmetric are compared with each other, and no longer.
        found = self.findings('''
        k = symmrepl.torch.compile("""
        extern "C" __global__ void count(int* out, const int* in, int n) {
          for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += in[i];
        }
        """, "count", file="count.cu")
        out, ones = torch.zeros(3000, dtype=torch.int32), torch.ones(3000, dtype=torch.int32)
        for n in range(3):
            k(grid=(1, 1, 1), block=(64, 1, 1), args=(out, ones, 3000))
            same(out, [n + 1] * 3000)
            out[5] = n + 1
        small = [torch.zeros(4, dtype=torch.int32) for _ in range(20)]
        for a, b in zip(small, small[1:]):
            k(grid=(1, 1, 1), block=(64, 1, 1), args=(a, b, 4))
        k(grid=(1, 1, 1), block=(64, 1, 1), args=(torch.zeros(0, dtype=torch.int32), a[1:3], 0))
        if rank == 1:
            k(grid=(2, 1, 1), block=(64, 1, 1), args=(out, ones, 3000))
        ''')
        self.assertEqual([f["kind"] for f in found], ["race between blocks"], "\n".join(told(f) for f in found))
        self.assertEqual((found[0]["ranks"], found[0]["memory"]), ([1], "in int32[3000]"))

    def test_compiled_function(self):
        # What a compiled function reads and writes is seen, and what comes after it.
        found = self.findings("""
        @torch.compile(fullgraph=True)
        def f(x):
            return x[2:4] * 2 + 1

        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        b = h.get_buffer(0, (8,), torch.float32)
        f(b)
        h.barrier()
        if rank == 0:
            t[:2] = 3
            t[4:] = 3
        else:
            f(b)
        h.barrier()
        if rank == 0:
            t[3:5] = 4
        else:
            f(b)
        h.barrier()
        if rank == 1:
            b.add_(1)
        else:
            t.mul_(2)
        """)
        told_ = "\n".join(told(f) for f in found)
        self.assertEqual([f["kind"] for f in found], ["race with the host"] * 2, told_)
        self.assertEqual({a["source"].strip() for f in found for a in f["accesses"]}, {"t[3:5] = 4", "return x[2:4] * 2 + 1", "b.add_(1)", "t.mul_(2)"}, told_)

    def test_composed(self):
        # Operators within torch.cond are seen.
        found = self.findings("""
        import time
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu")
        h = symm_mem.rendezvous(t, G)
        dist.barrier()
        if rank == 0:
            time.sleep(1)  # after both have left the barrier
            t.fill_(7)
        else:
            torch.cond(torch.tensor(True), lambda y: y * 2, lambda y: y * 3, (h.get_buffer(0, (8,), torch.float32),))
        """)
        self.assertEqual([f["kind"] for f in found], ["race with the host"], "\n".join(told(f) for f in found))
        self.assertEqual({a["source"].strip()[:10] for a in found[0]["accesses"]}, {"t.fill_(7)", "torch.cond"})

    def test_missing_signal(self):
        found = self.findings("""
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu").fill_(rank)
        h = symm_mem.rendezvous(t, G)
        h.barrier()
        ops.two_shot_all_reduce_(t, "sum", name)
        if rank == 0:
            h.get_buffer(1, (8,), torch.float32).fill_(3)
            h.put_signal(1, 2)
        else:
            h.wait_signal(0, 2)
            t.add_(1)
        if rank == 0:
            h.get_buffer(1, (8,), torch.float32).fill_(4)
        """)
        self.assertEqual([f["kind"] for f in found], ["race with the host"], "\n".join(told(f) for f in found))
        self.assertEqual({a["source"].strip() for a in found[0]["accesses"]}, {"t.add_(1)", "h.get_buffer(1, (8,), torch.float32).fill_(4)"})

    def test_operator_against_write(self):
        found = self.findings("""
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu").fill_(rank)
        h = symm_mem.rendezvous(t, G)
        if rank == 0:
            h.get_buffer(1, (8,), torch.float32).fill_(3)
        ops.one_shot_all_reduce(t, "sum", name)
        h.barrier()
        store = dist.distributed_c10d._get_default_store()
        if rank == 0:
            t.fill_(1)
            store.set("filled", "1")
        else:
            store.get("filled")
            h.get_buffer(0, (8,), torch.float32).mul_(2)
        """)
        self.assertEqual(found, [], "\n".join(told(f) for f in found))
        found = self.findings("""
        t = symm_mem.empty(8, dtype=torch.float32, device="cpu").fill_(rank)
        h = symm_mem.rendezvous(t, G)
        h.barrier()
        ops.one_shot_all_reduce(t, "sum", name)
        h.put_signal(right)
        if rank == 0:
            h.wait_signal(left)
            h.get_buffer(1, (8,), torch.float32).fill_(3)
        ops.one_shot_all_reduce(t, "sum", name)
        t.fill_(1)
        """)
        self.assertEqual(found, [], "\n".join(told(f) for f in found))


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Silent(Programs):
    """Right programs have no findings."""

    def run_program(self, text, *worlds):
        found = Sanitized().findings(text, *worlds[:1])
        self.assertEqual(found, [], "\n".join(told(f) for f in found))


if __name__ == "__main__":
    unittest.main()
