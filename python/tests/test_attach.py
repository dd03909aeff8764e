"""Tests of breakpoints, and of symmrepl attach to a program of symmrepl torchrun, with programs that have no PyTorch."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

PLAIN = """import ctypes, os, sys, time
from symmrepl.emulator import attach, watch
from symmrepl.emulator.attach import breakpoint
from symmrepl.emulator.errors import Unavailable
from symmrepl.emulator.memory import Segment

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
watch.start()

class Tensor:
    def __init__(self, *values, first=0):
        self.segment, self.first, self.n = Segment(8192), first, len(values)
        self.all = (ctypes.c_int32 * 16).from_address(self.segment.address + 4096)
        self.all[first : first + len(values)] = values
    values = property(lambda self: list(self.all[self.first : self.first + self.n]))

def lend(t):
    if not isinstance(t, Tensor): raise Unavailable("is no tensor")
    return {"fd": t.segment.descriptor, "inode": os.fstat(t.segment.descriptor).st_ino, "size": t.segment.size, "pad": 512, "data": 4096,
            "bytes": 64, "offset": 4 * t.first, "dtype": "int32", "shape": [t.n]}

def describe(t):
    return {"type": f"int32[{t.n}]", "bytes": 4 * t.n, "value": str(t.values)} if isinstance(t, Tensor) else None

attach.lend, attach.describe = lend, describe
"""

class Run:
    """A program under symmrepl torchrun."""

    def __init__(self, test, begin, text, *flags, ranks=2):
        self.folder = tempfile.TemporaryDirectory()
        test.addCleanup(self.folder.cleanup)
        program = pathlib.Path(self.folder.name, "prog.py")
        program.write_text(begin + textwrap.dedent(text))
        more = {"SYMMREPL_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore", "XDG_RUNTIME_DIR": self.folder.name}
        self.environment = {**os.environ, **more}
        self.process = subprocess.Popen(
            [os.environ["SYMMREPL"], "torchrun", "-n", str(ranks), *flags, str(program)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment,
        )  # fmt: skip
        test.addCleanup(self.end)
        self.test, self.said, self.changed = test, "", threading.Condition()
        self.readers = [threading.Thread(target=self.read, args=(s,)) for s in (self.process.stdout, self.process.stderr)]
        for reader in self.readers:
            reader.start()

    def read(self, stream):
        with stream:
            for line in stream:
                with self.changed:
                    self.said += line
                    self.changed.notify_all()

    def awaited(self, text, times=1):
        """Returns when a text was said so often."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.said.count(text) >= times, 60):
                self.test.fail(f"{text!r} was not said:\n{self.said}")

    def pid(self, rank):
        """Returns the process of a rank that prints it."""
        with self.changed:
            if not self.changed.wait_for(lambda: re.search(rf"\[{rank}\] pid \d+", self.said), 60):
                self.test.fail(f"rank {rank} has not printed its process:\n{self.said}")
            return int(re.search(rf"\[{rank}\] pid (\d+)", self.said)[1])

    def end(self):
        self.process.kill()
        self.ended()

    def ended(self, limit=60):
        """Returns the exit status."""
        status = self.process.wait(limit)
        for reader in self.readers:
            reader.join()
        return status

    def attach(self, *arguments):
        """Starts a session that is attached to the program."""
        return subprocess.Popen(
            [os.environ["SYMMREPL"], "attach", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment,
        )  # fmt: skip

    def cells(self, *cells, arguments=()):
        """Runs cells in an attached session and returns all output."""
        session = self.attach(*arguments)
        try:
            out, _ = session.communicate("\n".join(cells) + "\n", timeout=90)
        except subprocess.TimeoutExpired:
            session.kill()
            raise
        return out


class Plain(unittest.TestCase):
    """Programs without PyTorch."""

    def start(self, text, *flags, ranks=2):
        return Run(self, PLAIN, text, *flags, ranks=ranks)

    def test_breakpoint(self):
        run = self.start("""
        t = Tensor(rank, 10, 20)
        class Holder: pass
        held = Holder()
        held.list = [None, Tensor(5, 6, first=2)]
        def step(number):
            inside = Tensor(number)
            if rank == 0: time.sleep(0.5)
            breakpoint()
            print("went on with", t.values[1:], held.list[1].values)
        step(3)
        step(4)
        print("done")
        """)
        run.awaited("prog.py stands in symmrepl.torch.breakpoint() (`symmrepl attach` gives a prompt there, Ctrl-C interrupts it):\n")
        run.awaited("prog.py:34 in step\n")
        out = run.cells(
            't := symm.FromTorch("t"); t.Ints()', ":vars", 'symm.FromTorch("held.list[1]").Fill(7)', "t.Slice(1, 3).Fill(symm.WorldSize())",
            'symm.FromTorch("inside").Ints()', ":diff t", ":continue", "t.Ints()",
        )  # fmt: skip
        self.assertIn("[0] []int{0, 10, 20}\n[1] []int{1, 10, 20}\n", out)
        self.assertRegex(out, r"0,1 +inside +int32\[1\] +4 B +\[3\]\n")
        self.assertRegex(out, r"\n +1 +t +int32\[3\] +12 B +\[1, 10, 20\]\n")
        self.assertIn("[0,1] []int{3}\n", out)
        self.assertRegex(out, r"\n1 +i32\[3\] +1 of 3 +1 +\[0\]")
        self.assertIn("[0] []int{0, 2, 2}\n[1] []int{1, 2, 2}\n", out)
        run.awaited("[0,1] went on with [2, 2] [7, 7]\n")
        run.awaited("stands in", 2)
        self.assertIn("attached to prog.py, which stands in symmrepl.torch.breakpoint():\n", run.cells(":continue"))
        run.awaited("[0,1] done\n")
        self.assertEqual(run.ended(), 0, run.said)
        self.assertEqual(os.listdir(pathlib.Path(run.folder.name, f"symmrepl-{os.getuid()}")), [])

    def test_kernel_on_all_ranks(self):
        run = self.start("t = Tensor(1, 2, 3, 4); breakpoint(); print(t.values)")
        run.awaited("stands in")
        out = run.cells(
            't := symm.FromTorch("t"); h := symm.Rendezvous(t)',
            'k := symm.Compile(`extern "C" __global__ void k(int** all, int* x, int n) { int i = threadIdx.x;'
            " if (i < n) x[i] += 100 * all[1][i + n]; }`)",
            "r := t.Slice(0, 2); k.Launch(symm.Grid(1), symm.Block(32), h.BufferPtrsDev(), r, 2)",
            "symm.Synchronize()", "h.Barrier(0)", ":continue",
        )  # fmt: skip
        self.assertNotIn("hint", out)
        self.assertEqual(run.ended(), 0, run.said)
        self.assertIn("[0,1] [301, 402, 3, 4]\n", run.said)

    def test_names(self):
        run = self.start("""
        t, number, word = Tensor(1), 3, "w"
        if rank == 1: only = Tensor(2)
        differs = Tensor(*range(rank + 1))
        breakpoint()
        """)
        run.awaited("stands in")
        for name, text in (
            ("nope", "nope is no variable at "), ("number", "number is no tensor"), ("t.values[5]", "IndexError"),
            ("", "is neither a variable nor"), ("t.__class__()", "is neither a variable nor"), ("(lambda: t)()", "is neither a variable nor"),
            ("t +", "is neither a variable nor"),
            ("t\\x00", "is neither a variable nor"), ("t" * 100000, "is no variable at "), ("t.nope", "AttributeError"),
            ("only", "is no variable at "), ("differs", "differs is i32[1] at byte 0 of 64"),
        ):  # fmt: skip
            out = run.cells(f'symm.FromTorch("{name}")', 'symm.FromTorch("t").Ints()')
            self.assertIn(text, out, name)
            self.assertIn("[0,1] []int{1}\n", out, name)

    def test_properties(self):
        """Code of the program that a name runs may stand: later names are answered."""
        run = self.start("""
        import threading
        lock = threading.Lock()
        class Holder:
            def __init__(self): self.t = Tensor(6)
            @property
            def slow(self):
                with lock: return self.t
            @property
            def wrong(self): raise ValueError("not now")
            @property
            def out(self): raise SystemExit(3)
        held = Holder()
        with lock: breakpoint()
        print("over")
        """)
        run.awaited("stands in")
        out = run.cells(*(f'symm.FromTorch("held.{name}").Ints()' for name in ("slow", "wrong", "out", "t")), ":continue")
        for text in ("has not answered within 5s", "ValueError: not now", "SystemExit", "[0,1] []int{6}\n"):
            self.assertIn(text, out)
        self.assertEqual(run.ended(), 0, run.said)

    def test_in_vain(self):
        """A breakpoint is collective: ranks that stand there and ranks that wait for them are a deadlock."""
        run = self.start("if rank == 0: breakpoint()")
        self.assertEqual(run.ended(), 1)
        self.assertRegex(run.said, r"rank 0 +waits in breakpoint #1 at \S+prog.py:\d+ for rank 1: the same call")
        self.assertRegex(run.said, r"rank 1 +has ended")

    def test_time_limit(self):
        """It does not count the time for which a program stands."""
        run = self.start("breakpoint(); time.sleep(0.1); print('on'); time.sleep(60)", "--timeout", "3s")
        run.awaited("stands in")
        time.sleep(4)
        run.cells(":continue")
        run.awaited("on\n")
        self.assertEqual(run.ended(), 1)
        self.assertIn("prog.py has reached its time limit of 3s", run.said)

    def test_interrupted(self):
        run = self.start("breakpoint()")
        run.awaited("stands in")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual(run.ended(), 130)
        self.assertRegex(run.said, r"prog.py is interrupted:\n +rank 0,1 +stands in symmrepl.torch.breakpoint\(\) at ")

    def test_refused(self):
        for environment in ({}, {"RANK": "0", "WORLD_SIZE": "1"}):
            done = subprocess.run(
                [sys.executable, "-c", "from symmrepl.emulator.attach import breakpoint; breakpoint()"],
                capture_output=True, text=True, timeout=60, env={**os.environ, **environment},
            )  # fmt: skip
            self.assertIn("start the program by symmrepl torchrun", done.stderr)
        run = self.start("""
        if os.fork() == 0:
            try: breakpoint()
            except Unavailable as e: print("in the child:", e)
            os._exit(0)
        os.wait()
        """)
        self.assertEqual(run.ended(), 0, run.said)
        self.assertIn("in the child: symmrepl.torch.breakpoint() stands until symmrepl attach lets it go on", run.said)

    def test_which_program(self):
        run = self.start("breakpoint()")
        run.awaited("stands in")
        self.assertIn("no session of yours", self.start("time.sleep(60)").cells(arguments=["999999999"]) + "no session of yours")
        for arguments in ([], [str(run.process.pid)]):
            self.assertIn("attached to prog.py", run.cells(arguments=arguments))
        self.assertNotIn("attached to", run.cells(arguments=["1"]))
        second = run.attach()
        second.stdin.write("symm.Rank()\n")
        second.stdin.flush()
        line = second.stdout.readline()
        while line and not re.fullmatch(r"\[1\] 1\n", line):
            line = second.stdout.readline()
        out = run.cells()  # the program, and the session beside it
        self.assertIn("2 sessions of yours run on this host:", out)
        self.assertRegex(out, rf"prog.py, 2 ranks of symmrepl torchrun, process {run.process.pid}\b")
        second.kill()  # the program does not notice
        second.communicate()
        self.assertIn("attached to prog.py", run.cells(":continue", arguments=[str(run.process.pid)]))
        self.assertEqual(run.ended(), 0, run.said)

    def test_front_ends(self):
        """Another front end of the attached session lets the program go on, too, and all are told where it stands next."""
        run = self.start("t = Tensor(rank); breakpoint(); breakpoint()")
        run.awaited("stands in")
        session = run.attach()
        session.stdin.write("symm.WorldSize()\n")
        session.stdin.flush()
        while session.stdout.readline() != "[0,1] 2\n":
            pass
        beside = re.search(r"\d  (\S+)  2 ranks, cpu", run.cells())[1]
        out = run.cells('symm.FromTorch("t").Ints()', ":continue", arguments=[beside])
        self.assertIn("[0] []int{0}\n[1] []int{1}\n", out)
        self.assertIn("prog.py goes on\n", out)
        run.awaited("stands in", 2)
        self.assertNotIn("has ended", run.cells("symm.Rank()", arguments=[str(run.process.pid)]))
        self.assertIn("prog.py goes on\n", run.cells(":continue", arguments=[str(run.process.pid)]))
        self.assertEqual(run.ended(), 0, run.said)
        out, _ = session.communicate(timeout=90)
        for text in ("symmrepl: prog.py stands in symmrepl.torch.breakpoint():\n", "symmrepl: prog.py has ended; what was taken"):
            self.assertIn(text, out)

    def test_the_program_ends(self):
        for how in (signal.SIGKILL, signal.SIGINT, None):
            run = self.start("t = Tensor(4, 5); print('pid', os.getpid()); breakpoint()")
            run.awaited("stands in")
            session = run.attach()
            session.stdin.write('t := symm.FromTorch("t"); t.Ints()\n')
            session.stdin.flush()
            while session.stdout.readline() != "[0,1] []int{4, 5}\n":
                pass
            if how is None:  # a rank alone
                os.kill(run.pid(1), signal.SIGKILL)
            else:
                run.process.send_signal(how)
            run.ended()
            out, _ = session.communicate('t.Fill(9)\nt.Ints()\nsymm.FromTorch("t")\n:vars\n:continue\nsymm.Rank()\n', timeout=90)
            for text in ("prog.py has ended; what was taken", "[0,1] []int{9, 9}\n", "FromTorch: the program has ended", "[0] 0\n[1] 1\n"):
                self.assertIn(text, out, how)

    def test_freed_and_used_again(self):
        """A view outlives the program's tensor."""
        run = self.start("""
        import gc
        t = Tensor(1, 2)
        breakpoint()
        del t
        gc.collect()
        t = Tensor(3, 4)
        breakpoint()
        """)
        run.awaited("stands in")
        session = run.attach()
        session.stdin.write('old := symm.FromTorch("t")\n:continue\n')
        session.stdin.flush()
        run.awaited("prog.py:33")
        cells = 't := symm.FromTorch("t"); old.Ints()\nt.Ints()\nold.Free(); t.Ints()\nold.Ints()\n:continue\n'
        out, _ = session.communicate(cells, timeout=90)
        for text in ("symmrepl: prog.py stands in symmrepl.torch.breakpoint():\n", "[0,1] []int{1, 2}\n", "[0,1] []int{3, 4}\n", "was freed"):
            self.assertIn(text, out)
        self.assertEqual(run.ended(), 0, run.said)

    def test_a_rank_that_does_not_answer(self):
        run = self.start("t = Tensor(1); print('pid', os.getpid()); breakpoint()")
        run.awaited("stands in")
        stopped = run.pid(1)
        os.kill(stopped, signal.SIGSTOP)
        out = run.cells('symm.FromTorch("t")')
        self.assertIn("rank 1 of prog.py has not answered within 5s", out)
        os.kill(stopped, signal.SIGCONT)
        self.assertIn("[0,1] []int{1}\n", run.cells('symm.FromTorch("t").Ints()', ":continue"))
        self.assertEqual(run.ended(), 0, run.said)


if __name__ == "__main__":
    unittest.main()
