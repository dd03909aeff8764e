"""Tests sessions from Python, with the program that the variable SYMMREPL names: python -m unittest test_session."""

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import symmrepl

try:
    import numpy
except ImportError:
    numpy = None

DEVICE = os.environ.get("SYMMREPL_TEST_DEVICE", "cpu")
PATIENCE = 10  # seconds within which a fault becomes an exception, on machines with other load


def start(n=2, **options):
    return symmrepl.start(n, DEVICE, **options)


def has(module):
    return importlib.util.find_spec(module) is not None


def python(text, **env):
    """Runs a program of Python; returns its output."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    if run.returncode:
        raise AssertionError(run.stderr)
    return run.stdout


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.01)


def stopped(process):
    """Reports whether all threads of a process have stopped: on a busy machine they go on for a while after SIGSTOP."""
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/stat") as f:
            if f.read().rpartition(")")[2].split()[0] != "T":
                return False
    return True


def waits(s, *ranks):
    """Reports whether exactly these ranks wait."""
    return {r.rank for r in s.ranks() if r.state == "waiting"} == set(ranks)


class Cells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = start()
        cls.addClassCleanup(cls.s.close)

    def test_output_and_values_by_rank(self):
        r = self.s.run('fmt.Println("same")\nfmt.Println("rank", symm.Rank())\nsymm.Rank() * 10')
        self.assertEqual(str(r), "[0,1] same\n[0] rank 0\n[1] rank 1\n[0] 0\n[1] 10")
        self.assertEqual(r.output(1), "same\nrank 1\n")
        self.assertEqual(r.by_rank, {0: "0", 1: "10"})
        self.assertIsNone(r.value)
        self.assertEqual(self.s.run("6 * 7").value, "42")
        self.assertGreater(r.cell, 0)
        self.assertEqual(self.s.run("fmt.Println(symm.Rank())", ranks=1).output(), "[1] 1\n")

    def test_output_comes_while_the_cell_runs(self):
        seen = []
        self.s.run('fmt.Println("a"); os.Stderr.WriteString("b\\n")', on_output=lambda o: seen.append((o.stream, o.text, o.ranks)))
        self.assertEqual(sorted(o for o in seen if o[0] != "note"), [("stderr", "b\n", [0, 1]), ("stdout", "a\n", [0, 1])])

    def test_displays_and_commands(self):
        (o,) = self.s.run('Display(display.HTML("<i>x</i>"))').outputs
        self.assertEqual(o.display["data"]["text/html"], "<i>x</i>")
        self.assertEqual(self.s.run('display.HTML("<b>y</b>")').values[0].data["text/html"], "<b>y</b>")
        self.assertIn("help", self.s.run(":help").output())

    def test_standard_input(self):
        cell = "in := bufio.NewScanner(os.Stdin); n := 0; for in.Scan() { n++; fmt.Println(in.Text()) }; n"
        r = self.s.run(cell, ranks=0, stdin=["one", "two"])
        self.assertEqual((r.output(0), r.value), ("one\ntwo\n", "2"))
        self.assertEqual(self.s.run(cell, ranks=0).value, "0")

    def test_typed_errors(self):
        for source, kind, message in (
            ("x +", symmrepl.CellSyntaxError, "expected operand"),
            ("nosuch()", symmrepl.CellTypeError, "undefined: nosuch"),
            ('panic("no")', symmrepl.CellPanic, "panic: no"),
            ("symm.Empty(symm.F32, -1)", symmrepl.Misuse, "-1"),
            ('symm.Compile("__global__ void k() { y; }")', symmrepl.CompileError, "y"),
        ):
            with self.subTest(source), self.assertRaises(kind) as raised:
                self.s.run(source, name="mine", line=7)
            e = raised.exception
            self.assertIn(message, str(e))
            self.assertEqual((e.ranks, e.rank, e.peer), ([0, 1], 0, None))
            self.assertEqual(e.kind, {v: k for k, v in symmrepl.errors.KINDS.items()}[kind])
            self.assertGreater(e.cell, 0)
            if e.kind != "compile":  # the position of a compile error is in the kernel
                self.assertEqual((e.cause.file, e.cause.line), ("mine", 7))
        with self.assertRaises(symmrepl.Refused):
            self.s.run(":nosuch")
        with self.assertRaises(symmrepl.Refused):
            self.s.run("1", ranks=5)
        self.assertEqual(self.s.run("nosuch()", check=False).errors[0].kind, "type")

    def test_an_error_has_what_the_cell_printed(self):
        with self.assertRaises(symmrepl.CellPanic) as raised:
            self.s.run('fmt.Println("before"); if symm.Rank() == 1 { panic(1) }')
        self.assertEqual(raised.exception.result.output(), "[0,1] before\n")
        self.assertEqual(raised.exception.ranks, [1])

    def test_mismatch(self):
        with self.assertRaises(symmrepl.Mismatch) as raised:
            self.s.run("symm.Empty(symm.F32, 4 + symm.Rank())")
        self.assertEqual(raised.exception.op, "Empty")
        self.assertTrue(raised.exception.hint or raised.exception.cause.detail or str(raised.exception))

    def test_ranks_and_variables(self):
        self.s.run("answer := 42")
        self.assertIn(("answer", "int", "42"), [(v.name, v.type, v.value) for v in self.s.variables(1)])
        infos = self.s.ranks()
        self.assertEqual([(r.rank, r.state) for r in infos], [(0, "idle"), (1, "idle")])
        self.assertNotEqual(infos[0].pid, infos[1].pid)

    def test_several_threads(self):
        results = {}
        threads = [threading.Thread(target=lambda i=i: results.update({i: self.s.run(f"{i} + 1").value})) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(results, {i: str(i + 1) for i in range(8)})


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = start()
        cls.addClassCleanup(cls.s.close)

    def tearDown(self):
        self.assertEqual([f for f in os.listdir(self.s._folder) if f != "lock"], [])  # no file is left

    def test_plain_values(self):
        for value in (3, -(2**62), 1.5, 1e300, True, 'quote " back \\ new\nline', "ü"):
            self.s.put("v", value)
            self.assertEqual(self.s.get("v"), [value, value])
            self.assertEqual(self.s.get("v", 1), value)
        self.assertEqual(self.s.get('map[string][]string{"a": {"b"}}', 0), {"a": ["b"]})
        self.assertEqual(self.s.get_by_rank("symm.Rank()"), {0: 0, 1: 1})
        self.s.run("""nan, inf := math.NaN(), math.Inf(-1); type inner struct { Z float32 `json:"z"` }
type outer struct { inner; X float64; Skip float64 `json:"-"`; None float64 `json:",omitempty"` }
asked := 0; ask := func() float64 { asked++; return nan }""")
        for expr, want in (
            ("nan", "nan"), ("float32(inf)", "-inf"), ("any(nan)", "nan"), ("&nan", "nan"), ("[2]float64{nan, 1}", "[nan, 1]"),
            ("[][]float64{{nan}, nil, {2}}", "[[nan], None, [2]]"), ("[]any{nan, `a`, nil, []byte{1}}", "[nan, 'a', None, 'AQ==']"),
            ('map[string]any{"b": nan, "a": map[int]float64{1: inf}}', "{'a': {'1': -inf}, 'b': nan}"),
            ("map[float64]int{nan: 1, 2: 3}", "{'2': 3, 'NaN': 1}"),
            ("outer{inner{float32(nan)}, inf, nan, 0}", "{'z': nan, 'X': -inf}"), ("struct{ V []complex128 }{[]complex128{1i}}", "{'V': [1j]}"),
            ("complex(nan, 1)", "(nan+1j)"), ("complex64(2)", "(2+0j)"), ("1e-7", "1e-07"), ("ask()", "nan"), ("asked", "1"),
        ):
            self.assertEqual(repr(self.s.get(expr, 0)), want, expr)
        with self.assertRaises(symmrepl.CellError):
            self.s.get("[]any{nan, func() {}}")
        with self.assertRaises(symmrepl.CellError):
            self.s.get("func() any { type node struct { Next *node; X float64 }; n := &node{X: nan}; n.Next = n; return n }()")
        with self.assertRaises(symmrepl.CellError):
            self.s.get("func() {}")
        with self.assertRaises(symmrepl.CellTypeError):
            self.s.get("nosuch")
        with self.assertRaises(symmrepl.TransferError):
            self.s.get("x := 3")
        with self.assertRaises(symmrepl.TransferError):
            self.s.get("int")

    def test_without_libraries(self):
        self.s.run("b := symm.Empty(symm.BF16, 2, 2).CopyFrom([]float32{1, -2, 3, 4})")
        t = self.s.get("b", 1, to="tensor")
        self.assertEqual((t.dtype, t.shape, t.nbytes, t.tolist()), ("bf16", (2, 2), 8, [[1, -2], [3, 4]]))
        self.assertEqual(self.s.get("b", to="tensor").tolist(), [[[1, -2], [3, 4]]] * 2)
        self.s.put("c", memoryview(bytes(range(8))))
        self.assertEqual(self.s.get("c.Ints()", 0, to="tensor").tolist(), list(range(8)))
        self.s.put("d", t)
        self.assertEqual(self.s.run("d.DType()").value, "bf16")
        self.assertEqual(self.s.get("[]float64{}", 0, to="tensor").tolist(), [])
        out = python(
            """
            import sys
            sys.modules["numpy"] = None
            import symmrepl
            with symmrepl.start(1, "cpu") as s:
                s.put("x", memoryview(b"ab"))
                t = s.get("x")
                print(type(t).__name__, t.tolist())
                try:
                    s.put("y", [1])
                except symmrepl.TransferError as e:
                    print("numpy" in str(e))
            """
        )
        self.assertEqual(out, "Tensor [[97, 98]]\nTrue\n")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        for name, dtype in (
            ("F16", "float16"), ("F32", "float32"), ("F64", "float64"), ("I8", "int8"), ("U8", "uint8"),
            ("I32", "int32"), ("U32", "uint32"), ("I64", "int64"), ("U64", "uint64"),
        ):  # fmt: skip
            with self.subTest(name):
                a = numpy.arange(12).reshape(3, 4).astype(dtype)
                self.s.put("x", a)
                self.assertEqual(self.s.run(f"x.DType() == symm.{name} && x.Symmetric()").value, "true")
                b = self.s.get("x")
                self.assertEqual((b.dtype, b.shape), (a.dtype, (2, 3, 4)))
                numpy.testing.assert_array_equal(b, numpy.stack([a, a]))
                b += 1  # only this process uses the memory
                numpy.testing.assert_array_equal(self.s.get("x", 0), a)
                numpy.testing.assert_array_equal(numpy.from_dlpack(self.s.get("x", 0, to="tensor")), a)
        for a in (numpy.float32(3), numpy.zeros((0, 3)), numpy.arange(6).reshape(2, 3).T, numpy.arange(3).astype(">i4")):
            self.s.put("y", a, symmetric=False)
            numpy.testing.assert_array_equal(self.s.get("y", 1), a)
            self.assertEqual(self.s.get("y", 1).shape, a.shape)
        numpy.testing.assert_array_equal(self.s.get("[]int{1, symm.Rank()}"), [[1, 0], [1, 1]])
        self.assertEqual(self.s.get("[]float32{}", 0).shape, (0,))
        self.s.put("scalar", numpy.float64(2.5))
        self.assertEqual(self.s.run("scalar").value, "2.5")
        for good in (numpy.ones(2, bool), numpy.ones(2, "i2"), numpy.ones(2, "u2"), numpy.full(2, 1 - 1j, "c8"), numpy.full(2, 1 - 1j)):
            self.s.put("z", good)
            numpy.testing.assert_array_equal(self.s.get("z", 1), good)
            self.assertEqual(self.s.get("z").dtype, good.dtype)
        for bad in (numpy.zeros(2, "g"), numpy.zeros(2, "G"), numpy.array(["a"])):
            with self.assertRaises(symmrepl.TransferError):
                self.s.put("z", bad)

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_ranks_that_differ(self):
        self.s.put("x", numpy.array([[1, 2], [3, 4]], "float32"), by_rank=True)
        self.assertEqual(self.s.run("x.Float32s()").by_rank, {0: "[]float32{1, 2}", 1: "[]float32{3, 4}"})
        self.s.put("x", {0: numpy.zeros(2, "float32"), 1: numpy.ones(2, "float32")})
        numpy.testing.assert_array_equal(self.s.get("x"), [[0, 0], [1, 1]])
        self.s.put("only", numpy.ones(3), ranks=1)
        self.assertEqual(self.s.get("only", 1).sum(), 3)
        with self.assertRaises(symmrepl.CellTypeError):
            self.s.get("only")
        self.s.run("local := symm.Local(symm.I32, 1 + symm.Rank()).Fill(7)")
        self.assertEqual({r: a.tolist() for r, a in self.s.get_by_rank("local").items()}, {0: [7], 1: [7, 7]})
        for refused in (
            lambda: self.s.get("local"),
            lambda: self.s.put("x", numpy.zeros((3, 2)), by_rank=True),
            lambda: self.s.put("x", {0: numpy.zeros(2), 1: numpy.zeros(3)}),
            lambda: self.s.put("x", {5: numpy.zeros(2)}),
            lambda: self.s.put("a b", numpy.zeros(2)),
            lambda: self.s.put("nosuch[0]", numpy.zeros(2)),
        ):
            with self.assertRaises(symmrepl.TransferError):
                refused()

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_a_tensor_is_filled_in_place(self):
        self.s.run("w := symm.Empty(symm.F32, 4); h := symm.Rendezvous(w); p := w.Ptr()")
        self.s.put("w", numpy.array([[1, 2, 3, 4], [5, 6, 7, 8]], "float32"), by_rank=True)
        self.assertEqual(self.s.run("w.Ptr() == p").value, "true")
        r = self.s.run("h.GetBuffer(1 - symm.Rank(), symm.F32, 4).Float32s()")
        self.assertEqual(r.by_rank, {0: "[]float32{5, 6, 7, 8}", 1: "[]float32{1, 2, 3, 4}"})
        self.s.put("w.Slice(1, 3)", numpy.zeros(2, "float32"))
        numpy.testing.assert_array_equal(self.s.get("w", 1), [5, 0, 0, 8])
        numpy.testing.assert_array_equal(self.s.get("w.Slice(2, 4)", 0), [0, 4])
        self.s.put("w", numpy.zeros(3))  # of another type and shape: a new tensor
        self.assertEqual(self.s.run("w.DType() == symm.F64 && w.Ptr() != p").value, "true")

    @unittest.skipUnless(numpy and has("ml_dtypes"), "ml_dtypes is not installed")
    def test_narrow_floats(self):
        import ml_dtypes

        for name, dtype in (("BF16", "bfloat16"), ("F8E4M3", "float8_e4m3fn"), ("F8E5M2", "float8_e5m2")):
            with self.subTest(name):
                a = numpy.array([1, -2, 0.5, 3]).astype(getattr(ml_dtypes, dtype))
                self.s.put("x", a)
                self.assertEqual(self.s.run(f"x.DType() == symm.{name}").value, "true")
                b = self.s.get("x", 1)
                self.assertEqual(b.dtype, a.dtype)
                numpy.testing.assert_array_equal(b.view("u1"), a.view("u1"))
                raw = a.view(f"u{a.itemsize}")
                self.s.put("y", raw, dtype=name.lower())
                self.assertEqual(self.s.run("y.String()").value, self.s.run("x.String()").value)
        out = python(
            """
            import sys
            sys.modules["ml_dtypes"] = None
            import symmrepl
            with symmrepl.start(1, "cpu") as s:
                s.run("x := symm.Local(symm.BF16, 2).Fill(1)")
                print(s.get("x", 0).dtype, s.get("x", 0).tolist())
            """
        )
        self.assertEqual(out, "uint16 [16256, 16256]\n")

    @unittest.skipUnless(has("torch"), "torch is not installed")
    def test_torch(self):
        import torch

        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.uint8, torch.int32, torch.int64,
                      torch.float8_e4m3fn, torch.float8_e5m2):  # fmt: skip
            with self.subTest(dtype):
                a = torch.arange(6, dtype=torch.float32).reshape(2, 3).to(dtype)
                self.s.put("x", a)
                b = self.s.get("x", to="torch")
                self.assertEqual((b.dtype, tuple(b.shape)), (dtype, (2, 2, 3)))
                self.assertTrue(torch.equal(b[1].view(torch.uint8), a.view(torch.uint8)))
                c = torch.from_dlpack(self.s.get("x", 0, to="tensor"))
                self.assertTrue(torch.equal(c.view(torch.uint8), a.view(torch.uint8)))
        if torch.cuda.is_available():
            self.s.put("x", torch.ones(3, device="cuda"))
            self.assertEqual(self.s.get("x", 0, to="torch").tolist(), [1, 1, 1])

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_measure(self):
        """Compares fetching 256 MiB of one rank with a copy by numpy."""
        if shutil.disk_usage(self.s._folder).free < 1 << 30:
            self.skipTest("less than 1 GiB is free in the folder of files")

        def best(f):
            times = []
            for _ in range(3):
                began = time.perf_counter()
                f()
                times.append(time.perf_counter() - began)
            return min(times) * 1000

        a = numpy.ones(64 << 20, "float32")
        self.s.put("big", a, ranks=0)
        put = best(lambda: self.s.put("big", a, ranks=0))
        got = best(lambda: self.s.get("big", 0))
        summed = best(lambda: self.s.get("big", 0).sum())
        copy, plain = best(lambda: a.copy()), best(lambda: a.copy().sum())
        print(
            f"256 MiB: {copy:.0f} ms a copy of numpy, {plain:.0f} ms and sum; {got:.0f} ms get, {summed:.0f} ms and sum; {put:.0f} ms put",
            file=sys.stderr,
        )
        numpy.testing.assert_array_equal(self.s.get("big", 0)[-3:], [1, 1, 1])
        self.s.run("big.Free()", ranks=0)


class Faults(unittest.TestCase):
    def session(self, n=2, **options):
        s = start(n, **options)
        self.addCleanup(s.close)
        return s

    def within(self, kind, f):
        """Runs f and expects an exception of this kind soon; returns the exception."""
        began = time.monotonic()
        with self.assertRaises(kind) as raised:
            f()
        self.assertLess(time.monotonic() - began, PATIENCE)
        return raised.exception

    def in_background(self, s, source, patience=PATIENCE, **options):
        """Runs a cell on another thread; returns a function that waits for its exception."""
        outcome = []

        def run():
            try:
                outcome.append(s.run(source, **options))
            except symmrepl.SymmreplError as e:
                outcome.append(e)

        thread = threading.Thread(target=run)
        thread.start()

        def wait():
            thread.join(patience)
            self.assertFalse(thread.is_alive(), "the cell goes on")
            return outcome[0]

        return wait

    def usable(self, s):
        self.assertEqual(
            s.run('x := symm.Empty(symm.F32, 2).Fill(1); symm.Rendezvous(x); symm.AllReduce(x, "sum").Float32s()').value, "[]float32{2, 2}"
        )

    HANG = "h := symm.Rendezvous(symm.Empty(symm.F32, 4)); if symm.Rank() == 0 { h.WaitSignal(1, 0) } else { select {} }"

    def test_a_deadlock(self):
        s = self.session()
        s.run("h := symm.Rendezvous(symm.Empty(symm.F32, 4))")
        e = self.within(symmrepl.Deadlock, lambda: s.run("if symm.Rank() == 1 { h.WaitSignal(0, 3) }", name="mine"))
        self.assertEqual((e.op, e.rank, e.peer), ("wait_signal", 1, 0))
        self.assertTrue(e.hint)
        (done, waiting) = e.hang
        self.assertEqual((done.ranks, done.doing, done.waits), ([0], "has finished the cell", []))
        self.assertEqual((waiting.ranks, [(w.op, w.peers, w.at) for w in waiting.waits]), ([1], [("wait_signal", [0], "mine:1")]))
        self.usable(s)

    def test_a_hang(self):
        s = self.session(deadlock="wait")
        wait = self.in_background(s, self.HANG)
        wait_until(lambda: s.hang is not None, "a report of the hang")
        hang = s.hang
        self.assertEqual((hang.waiting, hang.awaited), ([0], [1]))
        self.assertIn("rank 0", hang.text)
        s.interrupt()
        e = wait()
        self.assertIsInstance(e, symmrepl.Interrupted)
        self.assertTrue(e.result.hangs)
        self.assertIsNone(s.hang)
        self.usable(s)

    def test_a_timeout(self):
        s = self.session()
        self.within(symmrepl.Interrupted, lambda: s.run("for {}", timeout=0.3))
        self.usable(s)

    def test_keyboard_interrupt(self):
        s = self.session(deadlock="wait")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts jobs in the background that ignore it
        for blocked in (), (signal.SIGINT,):  # then another thread takes the signal
            signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
            self.addCleanup(signal.pthread_sigmask, signal.SIG_UNBLOCK, blocked)

            def press():
                signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
                try:
                    wait_until(lambda: waits(s, 0, 1), "waits of the ranks")
                finally:
                    os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=press)
            thread.start()
            e = self.within(KeyboardInterrupt, lambda: s.run(self.HANG))
            thread.join()
            self.assertIsInstance(e.__cause__, symmrepl.Interrupted)
            self.usable(s)

    def test_a_rank_that_an_interrupt_does_not_stop(self):
        s = self.session()
        worker = s.ranks()[1].pid
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda: stopped(worker), "the stop of rank 1")
        seen = []
        wait = self.in_background(s, 'fmt.Println("begun"); if symm.Rank() == 1 { select {} }', patience=30, on_output=lambda o: seen.append(o.text))
        wait_until(lambda: "begun\n" in seen, "the cell's output on rank 0")
        end = time.monotonic() + 30
        last = 0.0
        while s._running and time.monotonic() < end:
            if time.monotonic() > last + 0.5:
                last = time.monotonic()
                s.interrupt()
            try:
                os.kill(worker, signal.SIGSTOP)  # an interrupt lets a stopped process go on
            except ProcessLookupError:
                pass
            time.sleep(0.0002)
        e = wait()
        self.assertIsInstance(e, symmrepl.RankDied)
        self.assertEqual(e.ranks, [1])
        self.usable(s)

    def test_a_rank_is_killed(self):
        s = self.session()
        wait = self.in_background(
            s, "h := symm.Rendezvous(symm.Empty(symm.F32, 4)); if symm.Rank() == 0 { h.WaitSignal(1, 0) } else { time.Sleep(time.Minute) }"
        )
        wait_until(lambda: waits(s, 0, 1), "waits of the ranks")
        os.kill(s.ranks()[1].pid, signal.SIGKILL)
        e = wait()
        self.assertIsInstance(e, symmrepl.RankDied)
        self.assertEqual(e.ranks, [1])
        self.assertEqual(sorted(r for one in e.errors for r in one.ranks), [0, 1])
        self.usable(s)
        self.assertEqual([r.incarnation for r in s.ranks()], [1, 2])

    def test_restart(self):
        s = self.session()
        s.run("kept := symm.Rank() + 5")
        s.restart(1)
        with self.assertRaises(symmrepl.CellTypeError) as raised:
            s.run("kept")
        self.assertEqual(raised.exception.ranks, [1])
        s.restart(replay=True)
        self.assertEqual(s.run("kept").by_rank, {0: "5", 1: "6"})
        with self.assertRaises(symmrepl.Refused):
            s.restart(7)

    def test_the_session_is_killed(self):
        s = self.session()
        workers = [r.pid for r in s.ranks()]
        folder = s._folder
        wait = self.in_background(s, "time.Sleep(time.Minute)")
        wait_until(lambda: {r.state for r in s.ranks()} <= {"running", "waiting"}, "a running cell")
        s._channel.process.kill()
        self.assertIsInstance(wait(), symmrepl.SessionLost)
        self.within(symmrepl.SessionLost, lambda: s.run("1"))
        self.within(symmrepl.SessionLost, lambda: s.get("1"))
        self.assertTrue(s.closed)
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), "the end of the ranks")
        self.session()  # removes the files of the killed session
        self.assertFalse(os.path.exists(folder))

    def test_this_process_is_killed(self):
        victim = subprocess.Popen(
            [sys.executable, "-c", f"import symmrepl, time\ns = symmrepl.start(2, {DEVICE!r})\nprint(s._channel.process.pid, s._folder, flush=True)\ns.run('for {{}}')"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(victim.stdout.close)
        pid, folder = victim.stdout.readline().split()
        victim.kill()
        victim.wait()
        wait_until(lambda: not os.path.exists(f"/proc/{pid}") and not os.path.exists(folder), "the end of the session")

    def test_attach(self):
        s = self.session()
        s.run("shared := symm.Rank() + 1")
        with symmrepl.attach() as a:
            self.assertEqual((a.size, a.run("shared").by_rank), (2, {0: "1", 1: "2"}))
            self.assertTrue(os.path.isdir(a.directory))
            directory = a.directory
        self.assertEqual(s.run("shared", ranks=0).value, "1")  # it goes on
        a = symmrepl.attach(directory)
        self.addCleanup(a.close)
        s.close()
        self.within(symmrepl.SessionLost, lambda: a.run("shared"))
        self.within(symmrepl.StartError, symmrepl.attach)
        self.within(symmrepl.StartError, lambda: symmrepl.attach("/nosuch"))

    def test_close(self):
        with start() as s:
            pids = [r.pid for r in s.ranks()] + [s._channel.process.pid]
        self.assertFalse(any(os.path.exists(f"/proc/{pid}") for pid in pids))
        with self.assertRaises(symmrepl.SessionLost):
            s.run("1")
        s.close()  # again
        s = start()
        process = s._channel.process
        del s
        self.assertIsNotNone(process.poll())

    def test_several_hosts(self):
        s = self.session(hosts="2", net="null")
        s.put("x", memoryview(b"\1\2\3"))
        s.run("symm.Rendezvous(x)")
        self.assertEqual(s.get("x", 1, to="tensor").tolist(), [1, 2, 3])

    def test_several_sessions(self):
        a, b = self.session(1), self.session(1)
        e = self.within(symmrepl.StartError, symmrepl.attach)
        self.assertIn("2 sessions of yours", str(e))
        a.close()
        with symmrepl.attach() as c:
            c.run("one := 1")
        self.assertEqual(b.run("one").value, "1")

    def test_no_session(self):
        self.assertIn("nosuch", str(self.within(symmrepl.StartError, lambda: symmrepl.start(2, "nosuch"))))
        with self.assertRaises(symmrepl.ArgumentError):
            symmrepl.start(0)
        out = python(
            """
            import symmrepl
            try:
                symmrepl.start()
            except symmrepl.ProgramNotFound as e:
                print("SYMMREPL" in str(e))
            """,
            SYMMREPL="", PATH="/nosuch",
        )  # fmt: skip
        self.assertEqual(out, "True\n")

    def test_another_protocol(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "symmrepl")
            with open(program, "w") as f:
                f.write('#!/bin/sh\necho \'{"symmrepl": "9", "protocol": 99}\'\nread x\n')
            os.chmod(program, stat.S_IRWXU)
            out = python(
                """
                import symmrepl
                try:
                    symmrepl.start()
                except symmrepl.ProtocolError as e:
                    print("99" in str(e))
                """,
                SYMMREPL=program,
            )
        self.assertEqual(out, "True\n")

    @unittest.skipUnless(DEVICE == "cpu", "kernels are watched on the cpu device")
    def test_findings(self):
        s = self.session(1, sanitize=True)
        r = s.run(
            "out := symm.Local(symm.F32, 64)\n"
            'k := symm.Compile("__global__ void k(float* out) {\\n  __shared__ float s[64];\\n  s[threadIdx.x] = 1;\\n  out[threadIdx.x] = s[63 - threadIdx.x];\\n}")\n'
            "k.Launch(symm.Grid(1), symm.Block(64), out)"
        )
        (f,) = r.findings
        self.assertEqual((f.kind, f.cell, f.ranks), ("race in a block", r.cell, [0]))
        self.assertEqual({a.source.strip() for a in f.accesses}, {"s[threadIdx.x] = 1;", "out[threadIdx.x] = s[63 - threadIdx.x];"})
        self.assertIn("__syncthreads()", f.repair)
        self.assertIn("race in a block", str(f))
        self.assertEqual(s.findings(), [f])
        s.sanitize(False)
        self.assertEqual(s.run("k.Launch(symm.Grid(1), symm.Block(64), out)").findings, [])


if __name__ == "__main__":
    unittest.main()
