"""Programs on PyTorch's own symmetric memory that hang on GPUs: symmrepl torchrun says which call stands.

Ranks share GPUs if there are too few.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

BEGIN = """import os, sys, time
import torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import symmrepl.torch
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank % torch.cuda.device_count())
G = dist.group.WORLD
ops, name = torch.ops.symm_mem, G.group_name
t = symm_mem.empty(1024, dtype=torch.float32, device="cuda").fill_(rank)
h = symm_mem.rendezvous(t, G)
h.barrier()
torch.cuda.synchronize()
dist.barrier()
"""


def gpus():
    if importlib.util.find_spec("torch") is None:
        return 0
    import torch

    return torch.cuda.device_count()


class Event:
    def __init__(self):
        self.over = False

    def query(self):
        return self.over


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Queues(unittest.TestCase):
    """Which call of a queue stands, with events that the test sets."""

    def setUp(self):
        from symmrepl.torch.gpu import queue, standing

        self.module, self.wait_of, self.events = queue, standing.wait_of, []
        self.queue = queue.Queue(self.mark)

    def mark(self):
        self.events.append(Event())
        return self.events[-1]

    def call(self, op, **more):
        return self.module.Enqueued(op, (None, 0), **more)

    def add(self, op, soon=False):
        if not soon:
            self.queue._marked = 0.0
        self.assertTrue(self.queue.add(self.call(op)))

    def standing(self):
        calls, begun = self.queue.standing(Event.query, self.mark)
        return [c.op for c in calls], begun

    def test_order(self):
        self.assertEqual(self.standing(), ([], False))
        for op in "abc":
            self.add(op)
        self.assertEqual(self.standing(), ([], False))  # something before the first one runs
        for i, op in enumerate("abc"):
            self.events[i].over = True
            self.assertEqual(self.standing(), ([op], True))
        self.events[3].over = True  # that of the first look
        self.assertEqual(self.standing(), ([], False))
        self.add("d")
        self.assertEqual(self.standing(), (["c"], True))  # or what follows it, for all that is known
        self.assertEqual(self.queue.last().op, "d")

    def test_close_calls(self):
        """Calls without an event between them: any may stand."""
        self.add("a")
        self.add("b", soon=True)
        self.add("c")
        self.events[0].over = True
        self.assertEqual(self.standing(), (["a", "b"], False))

    def test_finished_calls_are_dropped(self):
        for _ in range(1000):
            self.add("a")
            for e in self.events:
                e.over = True
        self.assertLess(len(self.queue._spans), 3)
        self.assertEqual(self.queue.count, 1000)

    def test_capture(self):
        self.queue = self.module.Queue(lambda: None)
        self.assertFalse(self.queue.add(self.call("a")))
        self.assertEqual((self.queue.count, self.queue.last()), (0, None))

    def test_pads(self):
        world, channels = 3, 4

        def wait(op, *words, **more):
            pads = [[0] * (world * channels + 1) for _ in range(world)]  # the last word is of no channel
            for owner, channel, source in words:
                pads[owner][channel * world + source] = 1
            return self.wait_of(self.call(op, **more), 0, pads)

        self.assertIsNone(wait("wait_signal", (0, 2, 1), peer=1, channel=2))
        self.assertEqual(wait("wait_signal", (0, 3, 1), (0, 2, 2), peer=1, channel=2), ([1], "a signal on channel 2", [(2, 2), (1, 3)]))
        self.assertIsNone(wait("put_signal", (0, 2, 1), peer=1, channel=2))
        self.assertEqual(wait("put_signal", (1, 2, 0), peer=1, channel=2), ([1], "the previous signal on channel 2 to be consumed", []))
        self.assertEqual(wait("barrier", (2, 1, 0), (1, 2, 0), channel=1), ([2], "the barrier on channel 1", []))
        self.assertIsNone(wait("barrier", (2, 2, 0), channel=1))
        self.assertEqual(wait("one_shot_all_reduce", (2, 2, 0), (1, 0, 0)), ([1, 2], "the same call", []))
        self.assertIsNone(wait("one_shot_all_reduce", (0, 2, 1)))


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Operators(unittest.TestCase):
    def test_noted(self):
        """An operator that is noted is the same key, and traces as before."""
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx

        import symmrepl.torch  # noqa: F401
        from symmrepl.torch.gpu import calls

        op = torch.ops.symm_mem.one_shot_all_reduce
        keys = {op: 1, op.default: 2}
        calls.install()
        calls.install()
        self.assertEqual((keys[op], keys[op.default], op.overloads()), (1, 2, ["default"]))
        with FakeTensorMode():
            self.assertEqual(op(torch.empty(4), "sum", "0").shape, (4,))
        traced = make_fx(lambda x: op(x * 2, "sum", "0"), tracing_mode="fake")(torch.ones(4))
        self.assertIn("torch.ops.symm_mem.one_shot_all_reduce.default(mul, 'sum', '0')", traced.code)
        self.assertEqual(calls.moves(), 0)


@unittest.skipUnless(gpus(), "there is no GPU, or no PyTorch")
class Hangs(unittest.TestCase):
    def run_program(self, text, *flags, ranks=2):
        """Returns the exit status, the output, the messages and the time that the program took after its beginning."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "prog.py")
            program.write_text(BEGIN + "began = time.time()\n" + textwrap.dedent(text))
            command = [os.environ["SYMMREPL"], "torchrun", "-n", str(ranks), "--timeout", "60s", *flags, program]
            environment = {**os.environ, "SYMMREPL_PYTHON": sys.executable, "TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES": "1"}
            began = time.monotonic()
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=environment)
            self.took = time.monotonic() - began
        print(f"---- {self.id()}, {self.took:.1f} s\n{run.stdout}{run.stderr}")
        return run.returncode, run.stdout, run.stderr

    def seconds(self, err, text):
        """Returns for how long the row had stood that has the text."""
        found = re.search(re.escape(text) + r".*, for ([0-9.]+) s", err)
        self.assertTrue(found, err)
        return float(found[1])

    WRONG_CHANNEL = """
    def step():
        if rank == 1:
            h.put_signal(0, channel=5)
        if rank == 0:
            h.wait_signal(1, channel=3)
    step()
    torch.cuda.synchronize()
    dist.barrier()
    """

    def test_wrong_channel(self):
        """A wait is told at the line that has enqueued it, with the signal that came on another channel."""
        status, _, err = self.run_program(self.WRONG_CHANNEL, "--timeout", "14s")
        self.assertEqual(status, 1)
        row = "rank 0  waits in wait_signal at "
        self.assertIn(row, err)
        self.assertIn("in step for rank 1: a signal on channel 3; rank 1 has put one on channel 5", err)
        self.assertRegex(err, r"rank 1  waits in barrier #\d+ at \S*prog.py:\d+ for rank 0: the same call")
        self.assertLess(self.seconds(err, row), 3)

    def test_ended(self):
        status, _, err = self.run_program(self.WRONG_CHANNEL, "--deadlock", "end")
        self.assertEqual(status, 1)
        self.assertIn("is ended, because these waits cannot end:", err)
        self.assertIn("for rank 1: a signal on channel 3; rank 1 has put one on channel 5", err)

    def test_plain_torchrun(self):
        """PyTorch's own torchrun has started the ranks, which have a handle before they are watched."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "prog.py")
            program.write_text(BEGIN + 'symmrepl.torch.watch(deadlock="end")\n' + textwrap.dedent(self.WRONG_CHANNEL))
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
            environment = {**os.environ, "TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES": "1"}
            err = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment).stderr
        print(err)
        self.assertIn("prog.py is ended, because these waits cannot end:", err)
        self.assertIn("for rank 1: a signal on channel 3; rank 1 has put one on channel 5", err)

    def test_untaken(self):
        """A signal that nobody takes is what the next one on its channel waits for."""
        status, _, err = self.run_program("""
        for _ in range(2):
            if rank == 1:
                h.put_signal(0, channel=7)
        torch.cuda.synchronize()
        dist.barrier()
        """, "--deadlock", "end")  # fmt: skip
        self.assertEqual(status, 1)
        self.assertIn("for rank 0: the previous signal on channel 7 to be consumed", err)

    def test_channels_of_barriers(self):
        status, _, err = self.run_program("""
        h.barrier(channel=rank)
        torch.cuda.synchronize()
        """, "--deadlock", "end")  # fmt: skip
        self.assertEqual(status, 1)
        for rank in range(2):
            self.assertRegex(err, rf"rank {rank}  waits in barrier at \S*prog.py:\d+ for rank {1 - rank}: the barrier on channel {rank}")

    def test_operator(self):
        """Only some of the ranks call an operator."""
        status, _, err = self.run_program("""
        if rank > 0:
            out = ops.one_shot_all_reduce(t, "sum", name)
            torch.cuda.synchronize()
        dist.barrier()
        """, "--deadlock", "end", ranks=4)  # fmt: skip
        self.assertEqual(status, 1)
        self.assertRegex(err, r"rank 1-3 +waits in one_shot_all_reduce at \S*prog.py:\d+ for rank 0: the same call")
        self.assertRegex(err, r"rank 0 +waits in barrier #\d+ at \S*prog.py:\d+ for rank 1-3: the same call")

    def test_many_calls_before(self):
        """In a loop without pauses not each call has an event, and the pads say which one stands."""
        status, _, err = self.run_program("""
        for i in range(2000):
            if i == 1234 and rank == 0:
                h.wait_signal(1, channel=3)
            h.barrier(channel=1)
        torch.cuda.synchronize()
        dist.barrier()
        """, "--timeout", "20s")  # fmt: skip
        self.assertEqual(status, 1)
        self.assertRegex(err, r"rank 0 .*waits in wait_signal at \S*prog.py:19 for rank 1: a signal on channel 3")
        self.assertRegex(err, r"rank 1 .*waits in barrier at \S*prog.py:20 for rank 0: the barrier on channel 1")

    def test_kernel_of_the_program(self):
        status, _, err = self.run_program("""
        k = torch.cuda._compile_kernel('extern "C" __global__ void spin(unsigned* p) { while (atomicAdd_system(p, 0u) == 0u) ; }', "spin")
        if rank == 0:
            k(grid=(1, 1, 1), block=(1, 1, 1), args=(h.get_signal_pad(0)[600:],))
            torch.cuda.synchronize()
        dist.barrier()
        """, "--timeout", "14s")  # fmt: skip
        self.assertEqual(status, 1)
        self.assertRegex(err, r"rank 0 .*busy in kernel spin, launched at \S*prog.py:\d+")

    def test_driver(self):
        """A kernel that is to be loaded waits in the driver for the one that stands: what is known without the driver is told."""
        status, _, err = self.run_program("""
        h.barrier(channel=rank)
        print(t.cumsum(0).sum().item())
        """, "--timeout", "20s")  # fmt: skip
        self.assertEqual(status, 1)
        for rank in range(2):
            self.assertRegex(err, rf"rank .*{rank}.*barrier.* at \S*prog.py:17")

    def test_graph(self):
        status, out, err = self.run_program("""
        g = torch.cuda.CUDAGraph()
        s = torch.cuda.Stream()
        with torch.cuda.graph(g, stream=s):
            h.barrier(channel=1)
            if rank == 0:
                h.wait_signal(1, channel=3)
        if rank == 1:
            h.put_signal(0, channel=3)
        g.replay()
        torch.cuda.synchronize()
        print("once", flush=True)
        g.replay()
        torch.cuda.synchronize()
        dist.barrier()
        """, "--timeout", "14s")  # fmt: skip
        self.assertEqual(status, 1)
        self.assertIn("once", out)
        self.assertRegex(err, r"rank 0 .*waits in wait_signal at \S*prog.py:\d+ for rank 1: a signal on channel 3")

    def test_right(self):
        """Nothing is told of a program that goes on, also if it computes for long, and its operators give the same as before."""
        status, out, err = self.run_program("""
        a = torch.randn(8192, 8192, device="cuda")
        until = time.time() + 5
        while True:
            for _ in range(4):
                a = a @ a
                a /= a.norm()
            ops.one_shot_all_reduce(t, "sum", name)
            h.barrier(channel=2)
            torch.cuda.synchronize()
            over = torch.tensor([time.time() > until])
            dist.broadcast(over, 0)
            if over.item(): break
        t.fill_(rank + 1)
        h.barrier()
        with torch.inference_mode():
            print(ops.one_shot_all_reduce(t, "sum", name)[5].item(), ops.one_shot_all_reduce_copy(t, t * 2, "sum", name)[7].item())
        """)  # fmt: skip
        self.assertEqual((status, err), (0, ""))
        self.assertIn("3.0 6.0", out)

    def test_cost(self):
        """Prints the time of calls and of a step, watched and not."""
        text = """
        a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
        def measure(f, n):
            f(); torch.cuda.synchronize(); dist.barrier()
            begin = time.perf_counter()
            for _ in range(n): f()
            torch.cuda.synchronize()
            return (time.perf_counter() - begin) / n * 1e6
        def step():
            for _ in range(4): a @ a
            ops.one_shot_all_reduce(t, "sum", name)
            h.barrier()
        step()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g): step()
        best = [min(measure(f, n) for _ in range(3)) for f, n in
                ((lambda: h.barrier(channel=1), 500), (lambda: ops.one_shot_all_reduce(t, "sum", name), 500), (step, 100), (g.replay, 100))]
        if rank == 0:
            print("barrier %.2f us, one_shot_all_reduce %.2f us, step %.1f us, step in a graph %.1f us" % tuple(best))
        """
        if gpus() < 2:
            self.skipTest("ranks that share a GPU take turns, which hides all else")
        for _ in range(2):
            print("watched:", self.run_program(text)[1])
            with tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder, "prog.py")
                program.write_text(BEGIN.replace("import symmrepl.torch\n", "") + textwrap.dedent(text))
                command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
                environment = {**os.environ, "TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES": "1"}
                print("alone:  ", subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment).stdout)


if __name__ == "__main__":
    unittest.main()
