"""Tests of symmrepl torchrun with the ranks of plain Python processes, which have the emulated device and no PyTorch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import symmrepl

PROGRAM = """import os, pathlib, struct, sys, time
from symmrepl.emulator import sanitize, watch
from symmrepl.emulator.device import Device
from symmrepl.emulator.memory import Mapping, Part, Segment

rank, world, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), pathlib.Path(sys.argv[1], os.environ["MASTER_PORT"])
folder.mkdir(exist_ok=True)  # each order has another port
d = Device()
mine = Segment(8192, [Part(0, 4096, "the pad", "word", 4), Part(4096, 256, "int32[64]", "element", 4)])

def meet(number, text="here", told=True):
    if told: sanitize.publish()
    (folder / f"{number}.{rank}.new").write_text(text)
    (folder / f"{number}.{rank}.new").rename(folder / f"{number}.{rank}")
    others = [folder / f"{number}.{r}" for r in range(world)]
    while not all(o.exists() for o in others):
        time.sleep(0.005)
    if told: sanitize.observe()
    return [o.read_text() for o in others]

memory = [mine if r == rank else Mapping(name) for r, name in enumerate(meet("memory", mine.name))]
kernels = d.compile('''
extern "C" __global__ void wait(symm::Signals s, symm::Context c, int peer, unsigned channel) { symm::wait_signal(s, c, peer, channel); }
extern "C" __global__ void put(symm::Signals s, symm::Context c, int peer, unsigned channel) { symm::put_signal(s, c, peer, channel); }
extern "C" __global__ void write(int* x, int value) { x[threadIdx.x] = value; }
extern "C" __global__ void poll(volatile int* x) { while (x[3] == 0) ; }
''', "prog.cu")
pads = b"".join(m.address.to_bytes(8, "little") for m in memory).ljust(8 * 72, b"\\0")

def signal(op, peer, channel):
    call = watch.Call(op, group="world", members=range(world))
    arguments = pads + d.context(rank, world, 0, 64) + struct.pack("<iI", peer, channel)
    d.launch(kernels[op.split("_")[0]][0], (1, 1, 1), (1, 1, 1), arguments, call=call)

def write(r, value):
    d.launch(kernels["write"][0], (1, 1, 1), (8, 1, 1), struct.pack("<Qi", memory[r].address + 4096, value))

meet("kernels")
"""


class Programs(unittest.TestCase):
    def start(self, text, *flags, ranks=2):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name, "prog.py")
        program.write_text(PROGRAM + textwrap.dedent(text))
        command = [os.environ["SYMMREPL"], "torchrun", "-n", str(ranks), *flags, str(program), folder.name]
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "SYMMREPL_PYTHON": sys.executable},
        )  # fmt: skip

    def run_program(self, text, *flags, ranks=2):
        """Returns the exit status and the output, of which a run that takes a minute is no part."""
        process = self.start(text, *flags, ranks=ranks)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, out, err

    def test_right(self):
        status, out, err = self.run_program("""
        if rank == 0: signal("put_signal", 1, 3)
        else: signal("wait_signal", 0, 3)
        print("done")
        """)
        self.assertEqual((status, out), (0, "[0,1] done\n"), err)

    def test_waits_in_vain(self):
        status, _, err = self.run_program("""
        def step():
            signal("wait_signal", 1 - rank, 3 + rank)
        step()
        """)
        self.assertEqual(status, 1)
        self.assertIn("prog.py is ended, because these waits cannot end:\n", err)
        for rank in range(2):
            self.assertRegex(err, rf"rank {rank}  waits in wait_signal at \S*prog.py:\d+ in signal for rank {1 - rank}: a signal on channel {3 + rank}")

    def test_the_other_has_ended(self):
        status, _, err = self.run_program("if rank == 0: signal('wait_signal', 1, 0)")
        self.assertEqual(status, 1)
        self.assertIn("for rank 1: a signal on channel 0", err)
        self.assertRegex(err, "rank 1 +has ended\n")

    def test_told(self):
        """Waits that may end are told, with what the other ranks do."""
        status, out, err = self.run_program("""
        if rank == 0: signal("wait_signal", 1, 0)
        elif rank == 1: time.sleep(6); signal("put_signal", 0, 0)
        elif rank == 2:
            import threading
            lock = threading.Lock()
            with lock: lock.acquire(timeout=6)
        else:
            end = time.monotonic() + 6
            while time.monotonic() < end: pass
        print("done")
        """, ranks=4)  # fmt: skip
        self.assertEqual((status, out.count("done")), (0, out.count("[")), err)
        for text in ("rank 0  waits in wait_signal at ", "rank 1  sleeps in ", "rank 2  waits in ", "rank 3  runs, at or after "):
            self.assertIn(text, err)

    def test_kernel_of_the_program(self):
        status, _, err = self.run_program(
            "d.launch(kernels['poll'][0], (1, 1, 1), (1, 1, 1), struct.pack('<Q', mine.address))", "--timeout", "8s"
        )
        self.assertEqual(status, 1)
        self.assertRegex(err, r"rank 0,1  busy in kernel poll, launched at \S*prog.py:\d+, for ")
        self.assertIn("prog.py has reached its time limit of 8s, and is ended:\n", err)

    def test_killed(self):
        began = time.monotonic()
        status, _, err = self.run_program("""
        if rank == 1: os.kill(os.getpid(), 9)
        signal("wait_signal", 1, 0)
        """)
        self.assertEqual(status, 1)
        self.assertIn("rank 1 was killed (SIGKILL); the other ranks are ended:\n", err)
        self.assertLess(time.monotonic() - began, 60)

    def test_interrupted(self):
        process = self.start("print('ready', flush=True); signal('wait_signal', 1 - rank, 0)", "--deadlock", "wait")
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "[0,1] ready\n")
        time.sleep(2)
        process.send_signal(2)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(err, r"prog.py is interrupted:\n +rank 0  waits in wait_signal ")

    def test_program_that_runs_no_more(self):
        """The ranks do not outlive symmrepl torchrun."""
        process = self.start("print(os.getpid(), flush=True); signal('wait_signal', 1 - rank, 0)", "--deadlock", "wait")
        ranks = [int(process.stdout.readline().split()[1]) for _ in range(2)]
        process.kill()
        process.communicate(timeout=60)
        deadline = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}") and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] for pid in ranks):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_the_ranks_find_the_program(self):
        """They start the program that runs them, which is not in PATH, or the one that the user names."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "prog.py")
            program.write_text("from symmrepl._channel import find_program\nprint(find_program()[0])\n")
            environment = {**os.environ, "SYMMREPL_PYTHON": sys.executable, "PATH": folder}
            ours = os.path.realpath(os.environ["SYMMREPL"])
            for named, want in ((None, ours), ("", ours), ("/mine", "/mine")):
                environment.pop("SYMMREPL", None)
                if named is not None:
                    environment["SYMMREPL"] = named
                done = subprocess.run([ours, "torchrun", "-n", "2", program], capture_output=True, text=True, timeout=60, env=environment)
                self.assertEqual((done.returncode, done.stdout), (0, f"[0,1] {want}\n"), done.stderr)

    def test_sanitize(self):
        status, out, err = self.run_program("write(1, rank); meet('end', told=False)", "--sanitize")
        self.assertEqual(status, 1, err)
        self.assertIn("race", out + err)
        self.assertIn("prog.cu:4", out + err)
        self.assertIn("the sanitizer has 1 finding in one order", err)
        status, out, err = self.run_program("write(rank, rank); meet('end')", "--sanitize", "--json", "--schedules", "2")
        self.assertEqual((status, json.loads(out)["findings"]), (0, []), err)
        self.assertIn("the sanitizer has found nothing in 2 orders", err)

    def test_unwatched_ranks_are_no_success(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
            done = subprocess.run(
                [os.environ["SYMMREPL"], "torchrun", "-n", "2", "--sanitize", program.name], capture_output=True, text=True, timeout=60,
                env={**os.environ, "SYMMREPL_PYTHON": sys.executable},
            )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("rank 0,1 was not watched to its end", done.stderr)

    def test_wrong_command_lines(self):
        for arguments, text in (
            ([], "needs a program of Python"),
            (["no-such.py"], "no such file"),
            (["-n", "0", "x.py"], "a number from 1"),
            (["--nnodes", "2", "x.py"], "all are on one host"),
            (["--json", __file__], "--json applies to"),
        ):
            done = subprocess.run([os.environ["SYMMREPL"], "torchrun", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)

    def test_other_version(self):
        status, _, err = self.run_program("")
        self.assertEqual((status, err), (0, ""))
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "prog.py")
            program.write_text("import symmrepl\nsymmrepl.__version__ = '0.0.9'\nfrom symmrepl.emulator import watch\nwatch.start()\n")
            done = subprocess.run(
                [os.environ["SYMMREPL"], "torchrun", "-n", "2", program], capture_output=True, text=True, timeout=60,
                env={**os.environ, "SYMMREPL_PYTHON": sys.executable},
            )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        text = f"symmrepl torchrun, which has started this process, has version {symmrepl.__version__}, and this package symmrepl has 0.0.9: install one version"
        self.assertIn(text, done.stderr)

    def test_wrong_socket(self):
        for value in ("x", "-1", "999", "0"):
            done = subprocess.run(
                [sys.executable, "-c", "from symmrepl.emulator import watch; watch.start()"], capture_output=True, text=True,
                stdin=subprocess.DEVNULL, env={**os.environ, "SYMMREPL_WATCH": value}, timeout=60,
            )  # fmt: skip
            self.assertIn("which symmrepl torchrun sets for its ranks", done.stderr)


if __name__ == "__main__":
    unittest.main()
