"""The cpu device in processes of Python, without PyTorch and without a session."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock

import symmrepl
from symmrepl.emulator.companion import Companion
from symmrepl.emulator.device import Device
from symmrepl.emulator.errors import CompileError, LaunchError, Unavailable, WaitTimeout
from symmrepl.emulator.memory import GUARD, Mapping, Segment
from symmrepl.errors import StartError

KERNELS = """extern "C" __global__ void scale(float* x, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
__device__ int calls;
extern "C" __global__ void count(int* out) { *out = ++calls; }
extern "C" __global__ void wait(symm::Signals s, symm::Context c, int peer, unsigned channel) { symm::wait_signal(s, c, peer, channel); }
extern "C" __global__ void set(unsigned* word, unsigned value) { atomicExch_system(word, value); }
extern "C" __global__ void until(unsigned* word, unsigned value) { while (atomicAdd_system(word, 0u) != value); }
"""


def floats(memory, n):
    return (ctypes.c_float * n).from_address(memory.address)


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device()
        cls.kernels = cls.device.compile(KERNELS, "prog.py", 20)

    def run_kernel(self, name, arguments, grid=(1, 1, 1), block=(1, 1, 1)):
        self.device.launch(self.kernels[name][0], grid, block, arguments)

    def test_launch(self):
        memory = Segment(4 * 1000)
        x = floats(memory, 1000)
        x[:] = range(1000)
        self.run_kernel("scale", struct.pack("<Qif", memory.address, 999, 2), (4, 1, 1), (256, 1, 1))
        self.assertEqual(list(x), [2 * i for i in range(999)] + [999])

    def test_parameters(self):
        self.assertEqual([tuple(p) for p in self.kernels["scale"][1]], [("x", "float*"), ("n", "int"), ("by", "float")])

    def test_variables_of_their_own(self):
        out = Segment(4)
        again = self.device.compile(KERNELS, "other.py")
        for kernels, want in ((self.kernels, 1), (self.kernels, 2), (again, 1)):
            self.device.launch(kernels["count"][0], (1, 1, 1), (1, 1, 1), struct.pack("<Q", out.address))
            self.assertEqual(ctypes.c_int.from_address(out.address).value, want)

    def test_compile_error(self):
        with self.assertRaises(CompileError) as raised:
            self.device.compile("__global__ void f(int* x) {\n  x[0] = y;\n}", "prog.py", 20)
        self.assertIn("prog.py:21:10: ", str(raised.exception))
        self.assertEqual(raised.exception.diagnostics[0].line, 21)

    def test_wrong_launches(self):
        memory = Segment(4)
        right = struct.pack("<Qif", memory.address, 1, 1)
        for grid, block, arguments in (
            ((1, 1, 1), (1, 1, 1), right[:-1]),
            ((1, 1, 1), (1, 1, 1), b""),
            ((0, 1, 1), (1, 1, 1), right),
            ((1, 1, 1), (1025, 1, 1), right),
            ((1, 1, 1), (64, 64, 1), right),
            ((1, -1, 1), (1, 1, 1), right),
            ((1 << 33, 1, 1), (1, 1, 1), right),
            ((1, 65536, 1), (1, 1, 1), right),
            ((1, 1, 1), (1, 1, 65), right),
            ((1, 1), (1, 1, 1), right),
        ):
            with self.assertRaises(LaunchError):
                self.run_kernel("scale", arguments, grid, block)
        for shared in (-1, 228 << 10, 1 << 40):
            with self.assertRaises(LaunchError):
                self.device.launch(self.kernels["scale"][0], (1, 1, 1), (1, 1, 1), right, shared)
        with self.assertRaisesRegex(CompileError, "bytes, of at most"):
            self.device.compile("//" + "x" * (17 << 20))
        with self.assertRaisesRegex(Unavailable, "no kernel nosuch"):
            self.device.operation("nosuch")

    def test_operation(self):
        memory = Segment(4 * 8)
        d = self.device
        arguments = d.pack("PullArgs", context=d.context(0, 1, channels=1), outs=1, n=8, op=0, arrived=1, out=[memory.address], **{"in": [memory.address]})
        floats(memory, 8)[:] = range(8)
        d.launch(d.operation("pull_reduce_f32"), (1, 1, 1), (32, 1, 1), arguments)
        self.assertEqual(list(floats(memory, 8)), list(range(8)))
        for wrong in ({"nosuch": 1}, {"n": b"123456789"}, {"out": [0] * 73}):
            with self.assertRaises((KeyError, ValueError)):
                d.pack("PullArgs", **wrong)

    def wait(self, timeout):
        signals = Segment(1 << 16)
        blocks = struct.pack("<72Q", *[signals.address] * 2, *[0] * 70)
        self.run_kernel("wait", blocks + self.device.context(0, 2, timeout, 64) + struct.pack("<iI", 1, 5))

    def test_timeout(self):
        with self.assertRaises(WaitTimeout) as raised:
            self.wait(0.1)
        self.assertEqual((raised.exception.peer, raised.exception.channel), (1, 5))
        self.test_launch()

    def test_interrupted(self):
        # A shell starts programs in the background with SIGINT ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            self.wait(0)
        self.assertLess(time.monotonic() - began, 60)
        self.test_launch()

    def test_fork(self):
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(Unavailable):
                try:
                    self.test_launch()
                except Unavailable as e:
                    status = 0 if "fork" in str(e) else 2
            os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.test_launch()


class Processes(unittest.TestCase):
    def python(self, text, *arguments):
        return subprocess.Popen([sys.executable, "-c", textwrap.dedent(text), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def test_fault(self):
        # The device of a process with a fault is of no use any more.
        program = f"""
        import struct
        from symmrepl.emulator.device import Device
        from symmrepl.emulator.errors import KernelFault
        from symmrepl.emulator.memory import Segment
        d = Device()
        scale, memory = d.compile({KERNELS!r})["scale"][0], Segment(4096)
        for at in (memory.address + memory.size, memory.address):
            try:
                d.launch(scale, (1, 1, 1), (1, 1, 1), struct.pack("<Qif", at, 1, 1))
            except KernelFault as e:
                print(e)
        """
        child = self.python(program)
        out = child.communicate()[0].splitlines()
        self.assertEqual(len(out), 2, out)
        self.assertIn("scale: a read of address ", out[0])
        self.assertIn("of no use after the fault", out[1])

    def test_shared_memory(self):
        # Two processes map each other's memory, and kernels of both signal each other.
        program = f"""
        import struct, sys
        from symmrepl.emulator.device import Device
        from symmrepl.emulator.memory import Mapping, Segment
        d, mine = Device(), Segment(4096)
        print(mine.name, flush=True)
        theirs = Mapping(sys.stdin.readline())
        kernels = d.compile({KERNELS!r})
        first = sys.argv[1] == "0"
        for i in range(1, 20):
            for name, memory in (("set", theirs), ("until", mine)) if first else (("until", mine), ("set", theirs)):
                d.launch(kernels[name][0], (1, 1, 1), (1, 1, 1), struct.pack("<QI", memory.address, i))
        print("done", flush=True)
        sys.stdin.readline()
        """
        both = [self.python(program, str(i)) for i in range(2)]
        names = [p.stdout.readline() for p in both]
        for p, name in zip(both, reversed(names)):
            p.stdin.write(name)
            p.stdin.flush()
        self.assertEqual([p.stdout.readline() for p in both], ["done\n"] * 2)
        memory = Mapping(names[0])
        self.assertEqual(ctypes.c_uint.from_address(memory.address).value, 19)
        for p in both:
            p.kill()
            p.communicate()
        self.assertEqual(ctypes.c_uint.from_address(memory.address).value, 19)  # the memory of a process that is gone stays mapped
        with self.assertRaises(Unavailable):
            Mapping(names[0])

    def test_wrong_mappings(self):
        segment = Segment(10)
        self.assertEqual(segment.size % os.sysconf("SC_PAGESIZE"), 0)
        owner, descriptor, size, inode, host = segment.name.split()
        for words, text in (
            ((owner, descriptor, int(size) + 1, inode, host), "not "), ((owner, 99999, size, inode, host), "No such file"),
            ((1, 0, size, inode, host), "on one host"), ((owner, 0, size, inode, host), "has other memory at descriptor 0"),
            ((owner, descriptor, size, int(inode) + 1, host), "has it ended"), ((owner, descriptor, size, inode, "x"), "another host"),
            ((owner, descriptor, size, inode), "another host"),
        ):  # fmt: skip
            with self.assertRaisesRegex(Unavailable, text):
                Mapping(" ".join(map(str, words)))
        for name in ("x", "1 2 3", "1 2 3 x y"):
            with self.assertRaises(ValueError):
                Mapping(name)
        with self.assertRaises(OSError):
            os.ftruncate(segment.descriptor, 0)  # it is sealed
        for size in (1 << 60, 1 << 80):
            with self.assertRaises(Unavailable):
                Segment(size)
        self.assertGreater(GUARD, 0)

    def test_no_descriptors_left(self):
        def used():
            return len(os.listdir("/proc/self/fd"))

        before = used()
        for _ in range(50):
            segment = Segment(4096)
            Mapping(segment.name)
        del segment
        self.assertEqual(used(), before)


class Lines(unittest.TestCase):
    def test_foreign(self):
        # The line of a program is none in a file that torch.compile has made.
        from symmrepl.emulator import lines

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "made.py")
            path.write_text("def call():\n    return lines.caller()[0]\n")
            names = {"lines": lines}
            exec(compile(path.read_text(), str(path), "exec"), names)
            self.assertEqual(names["call"](), str(path))
            for value in (folder, folder + os.sep):
                with unittest.mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=value):
                    self.assertEqual(names["call"](), __file__)
            with unittest.mock.patch.dict(os.environ, TORCHINDUCTOR_CACHE_DIR=""):
                self.assertEqual(names["call"](), str(path))


class WithoutTorch(unittest.TestCase):
    def imported(self, files):
        """Returns what is said where a package torch has these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            program = f"import sys; sys.path = [{folder!r}, *(p for p in sys.path if 'site-packages' not in p)]; import symmrepl.torch"
            run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            self.assertEqual(run.returncode, 1)
            return run.stderr.splitlines()[-1]

    def test_absent(self):
        self.assertEqual(self.imported({}), "ImportError: symmrepl.torch needs PyTorch 2.11 or later, and there is none: pip install torch")

    def test_other_versions(self):
        some = {"torch/distributed.py": "def is_available(): return True"}
        for version, text in (
            ("1.13.1", "needs PyTorch 2.11 or later, and this is 1.13.1: pip install -U torch"),
            ("2.10.0+cpu", "needs PyTorch 2.11 or later, and this is 2.10.0+cpu: pip install -U torch"),
            ("2.99.0a0+git1", "this PyTorch is newer than symmrepl.torch, and its interface is another one: "),
        ):
            self.assertIn(text, self.imported({**some, "torch/__init__.py": f"from . import distributed; __version__ = {version!r}"}))
        some = {"torch/distributed.py": "def is_available(): return False", "torch/__init__.py": "from . import distributed; __version__ = '2.12.0'"}
        self.assertIn("this build of PyTorch 2.12.0 has none", self.imported(some))


class Companions(unittest.TestCase):
    def test_killed(self):
        c = Companion()
        self.assertIn("Context", c.layouts())
        c._process.kill()
        with self.assertRaisesRegex(Unavailable, "has ended"):
            c.layouts()
        with self.assertRaisesRegex(Unavailable, "has ended"):
            c.layouts()

    def test_closed(self):
        c = Companion()
        c.layouts()
        process = c._process
        del c
        self.assertEqual(process.wait(10), 0)

    def test_absent(self):
        with self.assertRaisesRegex(Unavailable, "cannot be started"):
            Companion(["/nonexistent/symmrepl"])
        for command in (["true"], ["false"], ["cat"]):
            with self.assertRaises(Unavailable):
                Companion([sys.executable, "-c", "import sys; sys.exit(3)", *command]).layouts()
        named = os.environ.pop("SYMMREPL")
        path, os.environ["PATH"] = os.environ["PATH"], "/nonexistent"
        try:
            with self.assertRaises(StartError):
                Companion()
        finally:
            os.environ["SYMMREPL"], os.environ["PATH"] = named, path

    def test_garbage(self):
        greeting = json.dumps({"id": 0, "version": symmrepl.__version__})
        for said in ("hello", "{}", "[]", "null", '{"id": "x"}', '{"id": 1}'):
            for first in ("", greeting + "\n"):
                c = Companion([sys.executable, "-c", f"import sys; sys.stdin.readline(); print({first + said!r})"])
                with self.assertRaises(Unavailable):
                    c.layouts()

    def test_other_version(self):
        for said, text in (
            ('{"id": 0, "version": "0.0.9"}', f"has version 0.0.9, and this package symmrepl has {symmrepl.__version__}: install one version of both"),
            ('{"id": 1, "library": "/x"}', f"names no version, and this package symmrepl has {symmrepl.__version__}: install one version of both"),
        ):
            c = Companion([sys.executable, "-c", f"import sys; print({said!r}, flush=True); sys.stdin.read()"])
            for _ in range(2):
                with self.assertRaises(Unavailable) as raised:
                    c.layouts()
                self.assertIn(text, str(raised.exception))
                self.assertIn(sys.executable, str(raised.exception))

    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            without = ["PATH=/nonexistent", "SYMMREPL_CXX=", "SYMMREPL_ZIGLANG=", f"SYMMREPL_CACHE={folder}"]
            c = Companion(["/usr/bin/env", *without, os.environ["SYMMREPL"]])
            for call in (c.emulator, lambda: c.kernels("__global__ void f() {}"), lambda: c.operation("delay")):
                with self.assertRaisesRegex(Unavailable, "no C\\+\\+ compiler for kernels .*install g\\+\\+ or clang"):
                    call()
            del c, call

    def test_unsuited_text(self):
        c = Companion()
        kernel = 'extern "C" __global__ void f(int* x) { x[0] = 1; }'
        for text, line, column, what in ((kernel + "\0", 7, 51, "a NUL"), ("\n\0" + kernel, 8, 1, "a NUL"), (f"// \ud800\n{kernel}", 7, 4, "a surrogate")):
            with self.assertRaises(CompileError) as raised:
                c.kernels(text, "prog.py", 7)
            self.assertEqual([(d.file, d.line, d.column) for d in raised.exception.diagnostics], [("prog.py", line, column)])
            self.assertIn(f"prog.py:{line}:{column}: the text has {what}", str(raised.exception))
        self.assertEqual([*c.kernels(kernel).kernels], ["f"])

    def test_many_threads(self):
        c = Companion()
        wrong = []

        def ask():
            for _ in range(20):
                if "Context" not in c.layouts():
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

WATCHED = """extern "C" __global__ void write(int* x, int value) { x[threadIdx.x] = value; }
extern "C" __global__ void read(int* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void send(int* x, unsigned* flag, int fence) {
  x[0] = 7;
  if (fence) __threadfence_system();
  *(volatile unsigned*)flag = 1;
}
extern "C" __global__ void receive(int* x, unsigned* flag, int* out, int fence) {
  while (*(volatile unsigned*)flag != 1) ;
  if (fence) __threadfence_system();
  out[0] = x[0];
}
"""

RANK = f"""import json, os, struct, sys
from symmrepl.emulator import sanitize
from symmrepl.emulator.device import Device
from symmrepl.emulator.memory import Mapping, Part, Segment
sanitize.deliver = lambda report: print(json.dumps(report), flush=True)
rank, d = int(os.environ["RANK"]), Device()
mine = Segment(8192, [Part(0, 4096, "the flags", "word", 4), Part(4096, 256, "int32[64]", "element", 4)])
print(mine.name, flush=True)
theirs = Mapping(sys.stdin.readline())
kernels = d.compile({WATCHED!r}, "prog.py", 10)
flag = [m.address for m in ((mine, theirs) if rank == 0 else (theirs, mine))]
x, scratch = [f + 4096 for f in flag], Segment(4096)
out = scratch.address
def run(name, threads, pattern, *arguments):
    d.launch(kernels[name][0], (1, 1, 1), (threads, 1, 1), struct.pack(pattern, *arguments))
def meet():
    sanitize.publish()
    print("meet", flush=True)
    sys.stdin.readline()
    sanitize.observe()
"""


class Sanitized(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keeper = Companion()
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_ranks(self, text, shadow=None, **environment):
        """Runs two ranks, and returns their reports and statuses."""
        program = os.path.join(self.folder.name, "prog.py")
        with open(program, "w") as file:
            file.write(RANK + textwrap.dedent(text))
        if shadow is None:
            keeper = Companion()
            shadow = keeper.shadow()
        both = [
            subprocess.Popen(
                [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "SYMMREPL_SANITIZE": shadow, "RANK": str(r), **environment},
            )
            for r in range(2)
        ]  # fmt: skip
        reports, waiting, open_ = [], [], list(both)
        names = [p.stdout.readline() for p in both]
        for p, name in zip(both, reversed(names)):
            with contextlib.suppress(OSError):
                p.stdin.write(name)
                p.stdin.flush()
        while open_:
            p = open_[0]
            line = p.stdout.readline()
            if line == "meet\n":
                waiting.append(open_.pop(0))
                if not open_:
                    for other in waiting:
                        other.stdin.write("\n")
                        other.stdin.flush()
                    open_, waiting = waiting, []
            elif line:
                reports.append(json.loads(line))
            else:  # it has ended, and the other one meets nobody
                open_ = open_[1:] + waiting
                waiting = []
                for other in both:
                    other.stdin.close()
        said = [p.stderr.read() for p in both]
        for p in both:
            p.stdout.close()
            p.stderr.close()
        return reports, [p.wait(60) for p in both], said

    def findings(self, text, **environment):
        reports, statuses, said = self.run_ranks(text, **environment)
        self.assertEqual(statuses, [0, 0], said)
        self.assertEqual(sorted(r["rank"] for r in reports if r.get("ended")), [0, 1])
        return self.keeper.findings(reports)

    def test_right(self):
        text = """
        for i in range(3):
            run("write", 64, "<Qi", x[rank], i)
            meet()
            run("read", 64, "<QQ", x[1 - rank], out)
            meet()
        run("send", 1, "<QQi", x[1 - rank], flag[1 - rank], 1)
        run("receive", 1, "<QQQi", x[rank], flag[rank], out, 1)
        """
        for seed in ("0", "1", "2"):
            self.assertEqual(self.findings(text, SYMMREPL_SEED=seed), [])

    def test_race(self):
        found = self.findings("""
        if rank == 0:
            run("write", 64, "<Qi", x[0], 1)
        print("meet", flush=True), sys.stdin.readline()
        if rank == 1:
            run("read", 64, "<QQ", x[0], out)
        """)
        self.assertEqual([f["kind"] for f in found], ["race between ranks"], found)
        f = found[0]
        self.assertEqual((f["ranks"], f["memory"]), ([1], "in int32[64] of rank 0"))
        self.assertEqual([(a["rank"], a["op"], a["file"], a["line"], a["kernel"]) for a in f["accesses"]],
                         [(1, "reads", "prog.py", 11, "read"), (0, "writes", "prog.py", 10, "write")])
        self.assertIn("x[threadIdx.x] = value", f["accesses"][1]["source"])
        line = 1 + RANK[: RANK.index("    d.launch(")].count("\n")
        self.assertEqual([a["launched"].rpartition("/")[2] for a in f["accesses"]], [f"prog.py:{line}"] * 2)

    def test_missing_fence(self):
        found = self.findings("""
        if rank == 0:
            run("send", 1, "<QQi", x[1], flag[1], 0)
        else:
            run("receive", 1, "<QQQi", x[1], flag[1], out, 1)
        """)
        self.assertEqual([f["kind"] for f in found], ["order too weak"])
        self.assertIn("fence before the store", found[0]["repair"])

    def test_host_and_bounds(self):
        found = self.findings("""
        if rank == 0:
            d.sanitizer.calling()
            d.sanitizer.touched(x[0], 4, True)
        print("meet", flush=True), sys.stdin.readline()
        if rank == 1:
            run("read", 1, "<QQ", x[0], out)
            run("write", 65, "<Qi", x[1], 1)
        """)
        self.assertEqual([f["kind"] for f in found], ["race with the host", "out of bounds"])
        host = found[0]["accesses"][1]
        self.assertEqual((host["rank"], host["source"].strip()), (0, "d.sanitizer.calling()"))
        self.assertIn("right behind int32[64], where element 64 would be", found[1]["memory"])

    def test_killed_rank(self):
        # The finding of a rank that is killed is known; that there may be more is, too.
        reports, statuses, _ = self.run_ranks("""
        if rank == 0:
            run("write", 64, "<Qi", x[0], 1)
        print("meet", flush=True), sys.stdin.readline()
        if rank == 1:
            run("read", 64, "<QQ", x[0], out)
            os.kill(os.getpid(), 9)
        meet()
        """)
        self.assertEqual(statuses, [0, -9])
        self.assertEqual([r["rank"] for r in reports if r.get("ended")], [0])
        self.assertEqual([(f["kind"], f["ranks"]) for f in self.keeper.findings(reports)], [("race between ranks", [1])])

    def test_a_killed_process_leaves_nothing(self):
        # A later rank with the number of one that was killed is watched.
        keeper = Companion()
        for expected in ([-9, -9], [0, 0]):
            text = 'run("write", 64, "<Qi", x[rank], 1)' + ("\nos.kill(os.getpid(), 9)" if expected[0] else "")
            reports, statuses, said = self.run_ranks(text, shadow=keeper.shadow())
            self.assertEqual((statuses, self.keeper.findings(reports)), (expected, []), said)

    def test_wrong_environment(self):
        gone = Companion()
        name = gone.shadow()
        gone._process.kill()
        gone._process.wait()
        program = """
        import json, os, sys
        from symmrepl.emulator.companion import Companion
        from symmrepl.emulator.device import Device
        from symmrepl.emulator.errors import Unavailable
        companion = Companion()
        def refused(**environment):
            os.environ.update({"RANK": "0", "SYMMREPL_SEED": "0", **environment})
            try:
                Device(companion)
            except Unavailable as e:
                print(f"refused: {e}", flush=True)
            else:
                print(f"not refused: {environment}", flush=True)
        for shadow in ("", "x", "/proc/self/fd/0", "/dev/zero", "/dev/null", sys.executable, "/", "/" + 5000 * "x", sys.argv[1]):
            refused(SYMMREPL_SANITIZE=shadow)
        os.truncate(os.memfd_create("empty"), 1 << 44)
        refused(SYMMREPL_SANITIZE=f"/proc/self/fd/{max(int(d) for d in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + d))}")
        shadow = Companion()
        right = {"SYMMREPL_SANITIZE": shadow.shadow()}
        for rank in ("", "x", "-1", "128", "4294967296", "1 2", "\u0663", 5000 * "9"):
            refused(**right, RANK=rank)
        for seed in ("-1", "x", "1.5", str(1 << 63)):
            refused(**right, SYMMREPL_SEED=seed)
        os.environ.update({**right, "RANK": "0", "SYMMREPL_SEED": "0"})
        d = Device(companion)
        refused(**right)  # a second one
        try:
            d.load(companion.operation("delay"))
        except Unavailable as e:
            print(f"refused: {e}", flush=True)
        print("watched", flush=True)
        """
        p = subprocess.run([sys.executable, "-c", textwrap.dedent(program), name], capture_output=True, text=True, timeout=100)
        lines = p.stdout.splitlines()
        self.assertEqual([line for line in lines if not line.startswith("refused: ")], ["watched"], p.stderr)
        self.assertEqual(len(lines), 25, p.stdout)
        self.assertIn("was not compiled to be watched", lines[-2])

    def test_wrong_reports(self):
        for wrong in ([1], [[]], [{"findings": 1}], [{"findings": [{"kind": 99}]}], [{"rank": "x"}], [{"lines": {"a": 1}}], ["x" * 100]):
            with self.assertRaises(Unavailable):
                self.keeper.findings(wrong)
        self.assertEqual(self.keeper.findings([]), [])
        self.assertEqual(self.keeper.findings([{}]), [])


if __name__ == "__main__":
    unittest.main()
