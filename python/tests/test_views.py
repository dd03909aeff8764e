"""Tests views of the memory of GPUs, on the fake driver that SYMMREPL_CUDA names: its memory of GPUs is memory of the host."""

import array
import ctypes
import gc
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest
from contextlib import contextmanager
from unittest import mock

import symmrepl
from symmrepl import _cuda, _inbox

CELL = "x := symm.Empty(symm.F32, 4).CopyFrom([]float32{1, 2, 3, float32(symm.Rank())}); h := symm.Rendezvous(x)"
PATIENCE = 60


def live():
    """Returns the number of objects of the driver in this process."""
    n = ctypes.c_int()
    _cuda.driver()._library.cuDeviceGetAttribute(ctypes.byref(n), 9001, 0)
    return n.value


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def memory(view, kind=ctypes.c_float):
    """Returns the memory of a view as an array."""
    n = view.nbytes // ctypes.sizeof(kind)
    return (kind * n).from_address(view.__cuda_array_interface__["data"][0])


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = symmrepl.start(2, "cuda")
        cls.addClassCleanup(cls.s.close)
        cls.s.run(CELL)
        cls.s.get("x", to="tensor", device="cuda")  # opens the driver

    def setUp(self):
        gc.collect()
        self.before = live(), descriptors()
        self.addCleanup(self.nothing_left)

    def nothing_left(self):
        gc.collect()
        self.assertEqual((live(), descriptors()), self.before)
        self.assertEqual([name for name in os.listdir(self.s._folder) if name.startswith("view")], [])

    def refused(self, error, *parts, expr="x", rank=None, to="tensor", device="cuda"):
        """Checks that a get is refused with these words, and that the session goes on."""
        with self.assertRaises(error) as raised:
            self.s.get(expr, rank, to=to, device=device)
        for part in parts:
            self.assertIn(part, str(raised.exception))
        self.assertEqual(self.s.run("len(x.Float32s())").value, "4")

    def test_both_sides_write(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                v = self.s.get("x", rank, to="tensor", device="cuda")
                self.assertEqual((v.dtype, v.shape, v.nbytes, v.device), ("f32", (4,), 16, rank))
                self.assertEqual(repr(v), f"symmrepl.View(f32[4] on cuda:{rank})")
                self.s.run("x.CopyFrom([]float32{5, 6, 7, 8}); symm.Synchronize()")
                self.assertEqual(list(memory(v)), [5, 6, 7, 8])
                memory(v)[1] = 60
                self.assertEqual(self.s.run("x.Float32s()", ranks=rank).value, "[]float32{5, 60, 7, 8}")

    def test_peers_write(self):
        v = self.s.get("x", 0, to="tensor", device="cuda")
        self.s.run("if symm.Rank() == 1 { h.GetBuffer(0, symm.F32, 4).CopyFrom([]float32{9, 9, 9, 9}); symm.Synchronize() }")
        self.assertEqual(list(memory(v)), [9, 9, 9, 9])

    def test_all_ranks(self):
        self.s.run("x.CopyFrom([]float32{1, 2, 3, float32(symm.Rank())})")
        found = self.s.get("x", to="tensor", device="cuda")
        self.assertEqual([list(memory(v)) for v in found], [[1, 2, 3, 0], [1, 2, 3, 1]])
        by_rank = self.s.get_by_rank("x", 1, to="tensor", device="cuda")
        self.assertEqual({r: v.device for r, v in by_rank.items()}, {1: 1})
        self.assertEqual([v.device for v in self.s["x"].get(to="tensor", device="cuda")], [0, 1])

    def test_parts(self):
        v = self.s.get("x.Slice(2, 4).View(2, 1)", 1, to="tensor", device="cuda")
        whole = self.s.get("x", 1, to="tensor", device="cuda")
        self.assertEqual((v.shape, list(memory(v))), ((2, 1), list(memory(whole))[2:]))

    def test_types(self):
        for name, typestr in (
            ("F16", "<f2"), ("BF16", "<u2"), ("F64", "<f8"), ("I8", "|i1"), ("U8", "|u1"), ("I16", "<i2"), ("U32", "<u4"), ("I64", "<i8"),
            ("Bool", "|b1"), ("C64", "<c8"), ("C128", "<c16"), ("F8E4M3", "|u1"),
        ):  # fmt: skip
            with self.subTest(name):
                self.s.run(f"y := symm.Empty(symm.{name}, 3, 2)")
                about = self.s.get("y", 1, to="tensor", device="cuda").__cuda_array_interface__
                self.assertEqual((about["typestr"], about["shape"], about["strides"], about["version"]), (typestr, (3, 2), None, 3))
                self.s.run("y.Free()")
        for shape, expected in (("", ()), (", 0", (0,)), (", 2, 0", (2, 0))):
            self.s.run(f"y := symm.Empty(symm.F32{shape})")
            self.assertEqual(self.s.get("y", 1, to="tensor", device="cuda").shape, expected)
            self.s.run("y.Free()")

    def test_memory_outlives_the_tensor(self):
        self.s.run("y := symm.Empty(symm.F32, 2).CopyFrom([]float32{4, 5})")
        v = self.s.get("y", 0, to="tensor", device="cuda")
        self.s.run("y.Free(); z := symm.Empty(symm.F32, 2).CopyFrom([]float32{0, 0})")
        self.assertEqual(list(memory(v)), [4, 5])
        self.s.run("z.Free(); y = symm.Empty(symm.F32, 2).CopyFrom([]float32{4, 5})")
        v = self.s.get("y", 0, to="tensor", device="cuda")
        self.s.run("y = nil")  # nothing of the session holds it
        for _ in range(3):  # tensors of its size, which take the memory of those that nothing holds
            self.s.run("for i := 0; i < 100; i++ { symm.Empty(symm.F32, 2).CopyFrom([]float32{0, 0}); runtime.GC() }")
        self.assertEqual(list(memory(v)), [4, 5])

    def test_memory_outlives_the_rank(self):
        v = self.s.get("x", 1, to="tensor", device="cuda")
        memory(v)[0] = 42
        self.s.restart()
        self.assertEqual(memory(v)[0], 42)
        self.s.run(CELL)

    def test_a_rank_that_dies(self):
        self.s.run("type dies struct{}; func (dies) T() *symm.Tensor { if symm.Rank() == 1 { os.Exit(3) }; return x }")
        with self.assertRaises(symmrepl.CellError) as raised:
            self.s.get("dies{}.T()", to="tensor", device="cuda")
        self.assertIn("1", str(raised.exception))
        self.s.restart()
        self.s.run(CELL)

    def test_refusals(self):
        self.s.run("l := symm.Local(symm.F32, 2); p := symm.Host(symm.F32, 2); n := 5; var none *symm.Tensor")
        self.refused(symmrepl.Misuse, "ordinary memory", "copy it to a tensor of Empty", expr="l")
        self.refused(symmrepl.Misuse, "host memory", expr="p", rank=1)
        self.refused(symmrepl.Misuse, "is memory of rank 1", "make this call on rank 1", expr="h.GetBuffer(1, symm.F32, 4)", rank=0)
        self.refused(symmrepl.Misuse, "the tensor is nil", expr="none")
        self.refused(symmrepl.ArgumentError, "n is no tensor on rank 0,1", "int", expr="n")
        self.refused(symmrepl.ArgumentError, "[]float32", expr="x.Float32s()")
        self.refused(symmrepl.ArgumentError, "no expression of Go", expr="x +")
        self.refused(symmrepl.CellTypeError, "nosuch", expr="nosuch")
        self.refused(symmrepl.ArgumentError, "with device='cuda' it may be torch, tensor", to="numpy")
        self.refused(symmrepl.ArgumentError, "with device='cuda' it may be torch, tensor", to=None)
        self.refused(symmrepl.ArgumentError, "device is 'cuda:0': it may be cpu, cuda", device="cuda:0")
        self.refused(TypeError, "device is of type int", device=0)
        self.refused(TypeError, "to is of type list", to=["torch"])
        self.refused(symmrepl.ArgumentError, "rank is out of range", rank=2)
        self.s.run("f := symm.Empty(symm.F32, 2); g := f.Slice(0, 1); f.Free()")
        self.refused(symmrepl.Misuse, "was freed", expr="g")
        self.assertEqual(self.s.get("x", 0, to="tensor", device="cpu").shape, (4,))

    def test_driver(self):
        for call, code in (("cuMemImportFromShareableHandle", 1), ("cuMemAddressReserve", 2), ("cuMemMap", 1), ("cuMemSetAccess", 1),
                           ("cuDevicePrimaryCtxRetain", 2), ("cuCtxPushCurrent_v2", 1), ("cuDeviceGetCount", 1)):  # fmt: skip
            with self.subTest(call), failing(f"{call}={code}"):
                self.refused(symmrepl.TransferError, call, f"({code})", "device='cpu'")
        with mock.patch.object(_cuda.Driver, "_gpus", lambda self: ["GPU-1", "GPU-2"]):
            self.refused(symmrepl.TransferError, "GPU-11111111-1111-1111-1111-111111111111", "GPU-1, GPU-2", "CUDA_VISIBLE_DEVICES", rank=1)
        for name in ("/nosuch/libcuda.so", "libm.so.6"):
            with mock.patch.dict(os.environ, SYMMREPL_CUDA=name), mock.patch.object(_cuda, "_opened", {}):
                self.refused(symmrepl.TransferError, "the CUDA driver", "device='cpu'")

    def test_no_descriptors_left(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for spare in range(5):
            numbers = {int(name) for name in os.listdir("/proc/self/fd")}
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(numbers) + spare, hard))
            held = [os.open("/dev/null", os.O_RDONLY) for _ in range(len(set(range(max(numbers))) - numbers))]  # the gaps
            try:
                self.s.get("x", to="tensor", device="cuda")
            except symmrepl.TransferError as e:
                self.assertIn("ulimit -n", str(e))
            else:
                self.assertGreater(spare, 1)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for descriptor in held:
                    os.close(descriptor)

    def test_a_rank_without_descriptors(self):
        process = self.s.ranks()[1].pid
        limits = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (200, limits[1]))
        self.s.run("var held []*os.File")
        # The worker may have held a descriptor for a moment when all others were taken, so they are taken each time.
        take = 'if symm.Rank() == 1 { for { f, err := os.Open("/dev/null"); if err != nil { break }; held = append(held, f) } }'
        try:
            for free in range(3):  # none; one, for the descriptor of the memory; one more for the socket
                self.s.run(take)
                self.s.run("if symm.Rank() == 1 { for range %d { held[0].Close(); held = held[1:] } }" % free)
                try:
                    self.s.get("x", to="tensor", device="cuda")
                except symmrepl.SystemFailure as e:
                    self.assertEqual((e.ranks, e.op), ([1], "ExportTo"))
                    if free == 1:
                        self.assertIn("ulimit -n", e.hint)
                else:
                    self.assertEqual(free, 2)
        finally:
            self.s.run("for _, f := range held { f.Close() }")
            resource.prlimit(process, resource.RLIMIT_NOFILE, limits)
        self.assertEqual(len(self.s.get("x", to="tensor", device="cuda")), 2)

    def test_several_threads(self):
        wrong = []

        def look(rank):
            try:
                for _ in range(5):
                    self.assertEqual(self.s.get("x", rank, to="tensor", device="cuda").device, rank)
            except BaseException as e:
                wrong.append(e)

        threads = [threading.Thread(target=look, args=(r,)) for r in (0, 1, 0)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(PATIENCE)
        self.assertEqual(wrong, [])

    def test_two_clients(self):
        """Two clients see the same memory."""
        v = self.s.get("x", 0, to="tensor", device="cuda")
        with symmrepl.attach() as second:
            w = second.get("x", 0, to="tensor", device="cuda")
            memory(w)[0] = 77
            self.assertEqual(memory(v)[0], 77)
        del second
        self.assertEqual(memory(w)[0], 77)

    def test_a_killed_client(self):
        program = """
            import os, signal, symmrepl
            s = symmrepl.attach()
            s.run("killed := symm.Empty(symm.F32, 4)")
            v = s.get("killed", 0, to="tensor", device="cuda")
            print(s._folder, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
            """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual(run.returncode, -signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while os.path.exists(run.stdout.strip()):
            self.assertLess(time.monotonic(), end, "the folder of the client is left")
            time.sleep(0.01)
        self.s.run("killed.Free()")

    def test_a_fork(self):
        v = self.s.get("x", 0, to="tensor", device="cuda")
        child = os.fork()
        if not child:
            before = live()
            v._mapping._end()
            os._exit(live() != before)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(memory(v)), 4)


class Messages(unittest.TestCase):
    """Wrong messages to an inbox."""

    RIGHT = {"rank": 1, "gpu": "GPU-1", "size": 4096, "offset": 64, "dtype": "f32", "shape": [2, 3]}

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(lambda: os.rmdir(self.folder))  # which is empty
        self.before = descriptors()
        self.addCleanup(lambda: self.assertEqual(descriptors(), self.before))

    def receive(self, text, count=1):
        """Sends a text with descriptors; returns what an inbox makes of it."""
        with _inbox.Inbox(self.folder, 1) as inbox, open(os.devnull) as f:
            with socket.socket(socket.AF_UNIX) as sender:
                sender.connect(inbox.path)
                extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f.fileno()] * count))] if count else []
                sender.sendmsg([text], extra)
            return inbox.receive()

    def test_a_right_message(self):
        m = self.receive(json.dumps(self.RIGHT).encode())
        m.close()
        self.assertEqual((m.rank, m.gpu, m.size, m.offset, m.dtype.name, m.shape), (1, "GPU-1", 4096, 64, "f32", (2, 3)))

    def test_wrong_messages(self):
        right = json.dumps(self.RIGHT).encode()
        wrong = [b"\xff", b"null", b"[]", right[:-1], right * 2, b"[" * 60000, b"9" * 60000]
        wrong += [json.dumps({k: v for k, v in self.RIGHT.items() if k != field}).encode() for field in self.RIGHT]
        for field, values in (
            ("rank", [-1, "0", 1.5, None, True, 2**70]), ("gpu", [5, None, []]), ("size", [0, -1, "1", 2**70, 87, 1.0]),
            ("offset", [-4, 2, 4096, 2**70, None]), ("dtype", ["", "f31", None, 5, []]),
            ("shape", [5, None, "23", [-1], [2**70], [1.0], [[2]], [1024, 1], [0, 2**60], {"a": 1}, [True]]),
        ):  # fmt: skip
            wrong += [json.dumps({**self.RIGHT, field: value}).encode() for value in values]
        for text in wrong:
            with self.subTest(text[:100]), self.assertRaises(symmrepl.TransferError) as raised:
                self.receive(text)
            self.assertIn("install the same version", str(raised.exception))
        with self.assertRaises(symmrepl.TransferError):
            self.receive(b"x" * (_inbox._LONGEST + 1))

    def test_wrong_numbers_of_descriptors(self):
        for count in (0, 2, 9):
            with self.subTest(count=count), self.assertRaises(symmrepl.TransferError) as raised:
                self.receive(json.dumps(self.RIGHT).encode(), count)
            self.assertIn(f"{count} descriptors", str(raised.exception))

    def test_nothing_comes(self):
        with mock.patch.object(_inbox, "_PATIENCE", 0.05), _inbox.Inbox(self.folder, 1) as inbox:
            with self.assertRaises(symmrepl.TransferError) as raised:
                inbox.receive()
            self.assertIn("has not come", str(raised.exception))
            with socket.socket(socket.AF_UNIX) as silent:
                silent.connect(inbox.path)
                with self.assertRaises(symmrepl.TransferError):
                    inbox.receive()

    def test_no_folder(self):
        for folder in ("/nosuch", os.path.join(self.folder, "x" * 120)):
            with self.assertRaises(symmrepl.TransferError) as raised:
                _inbox.Inbox(folder, 1)
            self.assertIn("SYMMREPL_SHM", str(raised.exception))


class Torch(unittest.TestCase):
    """Views as tensors of a module that stands for torch."""

    @classmethod
    def setUpClass(cls):
        cls.s = symmrepl.start(1, "cuda")
        cls.addClassCleanup(cls.s.close)
        cls.s.run("x := symm.Empty(symm.BF16, 2, 3); e := symm.Empty(symm.F32, 0)")

    def get(self, torch, expr="x"):
        with mock.patch.dict(sys.modules, torch=torch):
            return self.s.get(expr, 0, to="torch", device="cuda")

    def test_a_tensor(self):
        t = self.get(FakeTorch())
        self.assertEqual((t.dtype, t.shape, t.device), ("torch.bfloat16", (2, 3), "cuda:0"))
        before = live()
        del t
        gc.collect()
        self.assertEqual(live(), before - 3)  # the context, the addresses, the mapping

    def test_an_empty_tensor(self):
        t = self.get(FakeTorch(), "e")
        self.assertEqual((t.dtype, t.shape, t.device, t.keeps), ("torch.float32", (0,), "cuda:0", None))

    def test_refusals(self):
        for torch, part in (
            (None, "torch, which is not installed"), (FakeTorch(available=False), "torch finds no GPU"),
            (FakeTorch(bfloat16=None), "no bfloat16"), (FakeTorch(copies=True), "has copied"), (FakeTorch(without="Numpy is not available"), "Numpy is not available; install numpy"),
        ):  # fmt: skip
            with self.subTest(part), self.assertRaises(symmrepl.TransferError) as raised:
                self.get(torch)
            self.assertIn(part, str(raised.exception))


class FakeTorch(types.ModuleType):
    """The part of torch that views use."""

    uint8, float32 = "torch.uint8", "torch.float32"

    def __init__(self, available=True, copies=False, bfloat16="torch.bfloat16", without=""):
        super().__init__("torch")
        self.cuda = types.SimpleNamespace(is_available=lambda: available)
        self.bfloat16, self.copies, self.without = bfloat16, copies, without

    def as_tensor(self, of, device):
        if self.without:
            raise RuntimeError(self.without)
        about = of.__cuda_array_interface__
        assert about["typestr"] == "|u1", about
        return FakeTensor(of, about["data"][0] + self.copies, self.uint8, about["shape"], device)

    def empty(self, shape, dtype, device):
        return FakeTensor(None, 0, dtype, shape, device)


class FakeTensor:
    def __init__(self, keeps, address, dtype, shape, device):
        self.keeps, self.address, self.dtype, self.shape, self.device = keeps, address, dtype, shape, device

    def data_ptr(self):
        return self.address

    def view(self, to):
        dtype, shape = (to, self.shape) if isinstance(to, str) else (self.dtype, to)
        return FakeTensor(self.keeps, self.address, dtype, shape, self.device)


@contextmanager
def failing(call):
    """Makes a call of the driver fail in this process. The fake driver reads the variable of C."""
    libc = ctypes.CDLL(None)
    libc.setenv(b"FAKE_CUDA_FAIL", call.encode(), 1)
    try:
        yield
    finally:
        libc.unsetenv(b"FAKE_CUDA_FAIL")


if __name__ == "__main__":
    unittest.main()
