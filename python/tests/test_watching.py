"""Programs that PyTorch's own torchrun starts and symmrepl.torch.watch() watches, on the cpu device."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import uuid

BEGIN = """import os, sys, time
import torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
import symmrepl.torch
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
"""
HANG = """
t = symm_mem.empty(16, device="cpu")
h = symm_mem.rendezvous(t, dist.group.WORLD)
def step():
    if rank == 1:
        h.put_signal(0, channel=5)
    if rank == 0:
        h.wait_signal(1, channel=3)
    dist.barrier()
step()
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Watching(unittest.TestCase):
    def start(self, text, **environment):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name, "prog.py")
        program.write_text(BEGIN + textwrap.dedent(text))
        self.mark = uuid.uuid4().hex
        command = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TEST_MARK": self.mark, **environment}
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(run.kill)
        return run

    def ended(self, run, within=90):
        """Returns the status and all that is printed, and checks that no process is left."""
        try:
            out, err = run.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            run.terminate()
            self.fail(f"the program did not end in {within} s:\n{run.communicate()}")
        until = time.monotonic() + 10
        while self.processes() and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(self.processes(), [])
        return run.returncode, out, err

    def processes(self):
        """Returns the command lines of the processes that the program has started."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"TEST_MARK={self.mark}".encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                pass
        return found

    def test_ended(self):
        status, _, err = self.ended(self.start("symmrepl.torch.watch(deadlock='end')" + HANG))
        self.assertNotEqual(status, 0)
        self.assertIn("prog.py is ended, because these waits cannot end:\n", err)
        self.assertRegex(err, r"rank 0  waits in wait_signal at \S*prog.py:14 in step for rank 1: a signal on channel 3; rank 1 has put one on channel 5")
        self.assertRegex(err, r"rank 1  waits in barrier #\d+ at \S*prog.py:15 in step for rank 0: the same call")

    def test_told(self):
        """By default a program that hangs is told of, and goes on; it ends as without a watch."""
        run = self.start("symmrepl.torch.watch(); symmrepl.torch.watch()" + HANG)
        told, lines = threading.Event(), []

        def read():
            for line in run.stderr:
                lines.append(line)
                if "waits in wait_signal" in line:
                    told.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        self.assertTrue(told.wait(60), lines)
        self.assertIn("has run for", "".join(lines))
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        run.wait(60)
        reader.join(10)
        until = time.monotonic() + 10
        while self.processes() and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(self.processes(), [])

    def test_right(self):
        status, out, err = self.ended(self.start("""
        symmrepl.torch.watch()
        for _ in range(100): dist.barrier()
        sys.stdout.write("done\\n")
        dist.destroy_process_group()
        """))  # fmt: skip
        self.assertEqual((status, out.count("done")), (0, 2), err)
        self.assertNotIn("waits", err)

    def test_rank_0_is_killed(self):
        """The watch ends with rank 0."""
        status, _, _ = self.ended(self.start("""
        symmrepl.torch.watch()
        dist.barrier()
        if rank == 0: os.kill(os.getpid(), 9)
        time.sleep(600)
        """))  # fmt: skip
        self.assertNotEqual(status, 0)

    def test_refused(self):
        """Wrong calls are refused on all ranks alike, and the program can go on."""
        status, out, err = self.ended(self.start("""
        def refused(kind, text, *args):
            try:
                symmrepl.torch.watch(*args)
            except kind as e:
                assert text in str(e), e
            else:
                raise AssertionError(f"{args} are not refused")
        refused(symmrepl.torch.Misuse, "deadlock is 'now': it must be one of wait, end", "now")
        refused(symmrepl.torch.Misuse, "deadlock is None", None)
        os.environ["LOCAL_WORLD_SIZE"] = "1"
        refused(symmrepl.torch.Misuse, "only those of one host")
        os.environ["LOCAL_WORLD_SIZE"] = "2"
        program, os.environ["SYMMREPL"] = os.environ["SYMMREPL"], "/nowhere/symmrepl"
        refused(symmrepl.torch.Unavailable, "/nowhere/symmrepl")
        os.environ["SYMMREPL"] = program
        from symmrepl.emulator import versions
        ours, versions.__version__ = versions.__version__, "0.0.9"
        refused(symmrepl.torch.Unavailable, f"has version {ours}, and this package symmrepl has 0.0.9: install one version of both")
        versions.__version__ = ours
        symmrepl.torch.watch()
        dist.barrier()
        dist.destroy_process_group()
        sys.stdout.write("refused\\n")
        """))  # fmt: skip
        self.assertEqual((status, out.count("refused")), (0, 2), err)
        status, _, err = self.ended(self.start("dist.destroy_process_group(); symmrepl.torch.watch()"))
        self.assertNotEqual(status, 0)
        self.assertIn("there is no process group: call torch.distributed.init_process_group before", err)


if __name__ == "__main__":
    unittest.main()
