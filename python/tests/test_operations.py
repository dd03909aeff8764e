"""Tests operations on tensors of a session: python -m unittest test_operations."""

import gc
import os
import unittest

import symmrepl
from symmrepl import literals

try:
    import numpy
except ImportError:
    numpy = None

DEVICE = os.environ.get("SYMMREPL_TEST_DEVICE", "cpu")


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = symmrepl.start(2, DEVICE)
        cls.addClassCleanup(cls.s.close)

    def setUp(self):
        self.s.run("x := symm.Empty(symm.F32, 4).Fill(symm.Rank() + 1); small := symm.Local(symm.F32, 2).Fill(symm.Rank()); steps := 10; w := symm.World()")
        self.x = self.s["x"]

    def test_variables(self):
        s, x = self.s, self.x
        self.assertEqual((x.shape, x.dtype, x.rank_values), ((4,), "f32", {0: [1] * 4, 1: [2] * 4}))
        self.assertEqual((s["steps"], s["symm.Rank() * 2"], s["[]string{`a`}"]), (10, {0: 0, 1: 2}, ["a"]))
        self.assertEqual((s["x.Slice(0, 2)"].shape, "x" in s, "nosuch" in s), ((2,), True, False))
        s["y"] = x + 1
        self.assertEqual(s["y"].rank_values, {0: [2] * 4, 1: [3] * 4})
        s["steps"] = 11
        self.assertEqual(s["steps"], 11)
        self.assertEqual(s.rank_values("x.Shape()"), {0: [4], 1: [4]})
        self.assertEqual(s["symm.Local(symm.I32, 1 + symm.Rank())"].shape, {0: (1,), 1: (2,)})

    def test_collectives(self):
        s, x = self.s, self.x
        self.assertIs(s.all_reduce(x), x)
        self.assertEqual(x.rank_values, {0: [3] * 4, 1: [3] * 4})
        self.assertEqual(s.one_shot_all_reduce("x", "avg", group="w").rank_values[1], [3] * 4)
        self.assertEqual(s.two_shot_all_reduce_("x", "max").rank_values[0], [3] * 4)
        self.assertEqual(s.all_gather_into_tensor(None, "small").rank_values, {0: [0, 0, 1, 1], 1: [0, 0, 1, 1]})
        self.assertIs(s.all_gather_into_tensor(x, "small"), x)
        self.assertEqual(x.rank_values[1], [0, 0, 1, 1])
        self.assertEqual(s.reduce_scatter_tensor(None, x).rank_values, {0: [0, 0], 1: [2, 2]})
        self.assertEqual(s.all_to_all_single(None, "small").rank_values, {0: [0, 1], 1: [0, 1]})
        self.assertEqual(s.broadcast("small", 1).rank_values[0], [1, 1])
        self.assertIsNone(s.barrier())

    def test_arithmetic(self):
        x = self.x
        for got, want in (
            (x + 1, 2), (1 + x, 2), (x + x, 2), (x - 3, -2), (3 - x, 2), (x * 2.5, 2.5), (2 * x, 2), (x / 2, 0.5), (2 / x, 2), ((x + 1) ** 2, 4), (-x, -1),
            (abs(-x), 1), (x < 2, 1), (x <= 0, 0), (x > 0, 1), (x >= 2, 0), (x == x, 1), (x != x, 0), (x * float("inf"), float("inf")),
        ):  # fmt: skip
            self.assertEqual(got.rank_values[0], [want] * 4)
        self.assertEqual([f().rank_values for f in (x.sum, x.mean, x.min, x.max)], [{0: 4, 1: 8}] + [{0: 1, 1: 2}] * 3)
        self.assertEqual(x[1:3].shape, (2,))
        x[2:] = self.x[:2].get(0, to="tensor")
        self.assertEqual(x.rank_values[1], [2, 2, 1, 1])
        self.assertTrue(x.equal(x))
        self.assertFalse(x.equal(x + 1))
        self.assertIsNone({x: None}[x])
        self.assertFalse(x == None)  # noqa: E711

    def test_variables_of_results_are_used_again(self):
        def results():
            return [v.name for v in self.s.variables() if v.name.startswith(self.s._prefix)]

        gc.collect()
        y, before = self.x + 1, len(results())
        for _ in range(20):
            y = self.x + 1
        self.assertLess(len(results()), before + 3)
        part = (y * 2)[0:1]
        self.assertEqual((y + 5).rank_values[0], [7] * 4)
        self.assertEqual(part.rank_values[0], [4])  # the slice keeps its tensor

    def test_wrong_calls(self):
        s, x = self.s, self.x
        with symmrepl.start(1, DEVICE) as other:
            other.run("x := symm.Local(symm.F32, 4)")
            stranger = other["x"]
            with self.assertRaisesRegex(ValueError, "tensor"):
                s.all_reduce(stranger)
        for argument, call in (
            ("name", lambda: s[5]), ("name", lambda: s["nosuch"]), ("name", lambda: s["x +"]), ("name", lambda: s[""]), ("name", lambda: s.__setitem__(5, 1)),
            ("name", lambda: s.__setitem__("x.y", x)), ("tensor", lambda: s.all_reduce(5)), ("tensor", lambda: s.all_reduce("steps")),
            ("tensor", lambda: s.all_reduce(memoryview(b"a"))), ("tensor", lambda: s.all_reduce("nosuch")), ("op", lambda: s.all_reduce(x, "prod")),
            ("op", lambda: s.all_reduce(x, None)), ("group", lambda: s.all_reduce(x, group=[0])), ("group", lambda: s.all_reduce(x, group="x")),
            ("ranks", lambda: s.all_reduce(x, ranks="0")), ("ranks", lambda: s.barrier(ranks=[7])), ("output", lambda: s.all_gather_into_tensor(5, x)),
            ("input", lambda: s.all_gather_into_tensor(x, None)), ("src", lambda: s.broadcast(x, 2)), ("src", lambda: s.broadcast(x, "0")),
            ("expr", lambda: s.rank_values(5)), ("operand", lambda: x + "a"), ("operand", lambda: x + [1]), ("operand", lambda: None * x),
            ("operand", lambda: x * 2**64), ("operand", lambda: x < "a"), ("index", lambda: x[0]), ("index", lambda: x[-1:]), ("index", lambda: x["a":]),
            ("other", lambda: x.equal(5)), ("rank", lambda: x.get(9)), ("value", lambda: x.put(None)), ("RemoteTensor", lambda: bool(x)),
            ("Session", lambda: list(s)),
        ):  # fmt: skip
            with self.assertRaises((TypeError, ValueError)) as raised:
                call()
            self.assertIn(argument, str(raised.exception))
            self.assertEqual(s["steps"], 10)
        with self.assertRaisesRegex(AttributeError, "all_gather_into_tensor"):
            s.all_gather
        for call in (lambda: s.all_gather_into_tensor(x, x), lambda: s.all_reduce(x, ranks=0), lambda: x + s["small"][0:0]):
            with self.assertRaises(symmrepl.Misuse):
                call()
        self.assertEqual(x.rank_values[0], [1] * 4)

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_operands_of_numpy(self):
        self.assertEqual((numpy.float32(2) * self.x).rank_values[0], [2] * 4)
        self.assertEqual((self.x + numpy.int64(2)).rank_values[0], [3] * 4)
        for call in (lambda: self.x + numpy.ones(4), lambda: numpy.ones(4) * self.x):
            with self.assertRaises(TypeError):
                call()

    def test_a_call_that_a_rank_leaves_out(self):
        self.s.run("symm.Rendezvous(x)")
        for call, kind in (("symm.Empty(symm.F32, 3)", symmrepl.Mismatch), ('symm.AllReduce(x, "sum")', symmrepl.Deadlock)):
            with self.assertRaises(kind) as raised:
                self.s.run(f"if symm.Rank() == 0 {{ {call} }}")
            self.assertEqual((raised.exception.ranks, raised.exception.peer), ([0], 1))
        with self.assertRaises(symmrepl.CellPanic):  # the rank that failed is the cause
            self.s.run('if symm.Rank() == 0 { symm.Empty(symm.F32, 3) } else { panic("no") }')

    def test_values_of_results(self):
        for source, want in (
            ("symm.Rank() * 10", {0: 0, 1: 10}), ("1.5", 1.5), ("true", True), ("nil", None), ('"a\\n\\x00é\\xff\\""', 'a\n\0é\udcff"'), ("[]int{1, 2}", [1, 2]),
            ("[]float64{1, math.Inf(-1)}", [1.0, float("-inf")]), ("complex(1, -2)", 1 - 2j), ('map[string][]int{"a": {1}, "b": nil}', {"a": [1], "b": None}),
            ('struct{A int; b []string}{1, []string{"x"}}', {"A": 1, "b": ["x"]}), ("[]any{1, `x`, nil, 2.5}", [1, "x", None, 2.5]), ("[2]bool{true}", [True, False]),
            ("w", "world"), ("time.Second", "1s"), ("map[int]int{3: 4}", {3: 4}), ("x.Float32s()", {0: [1.0] * 4, 1: [2.0] * 4}), ("[]int{}", []),
        ):  # fmt: skip
            with self.subTest(source):
                self.assertEqual(self.s.run(source).python, want)
        self.assertIsInstance(self.s.run("[]float64{1}").python[0], float)
        self.assertIsInstance(self.s.run("make([]int, 5000)").python, str)  # printed shortened
        self.assertIn("f32[4]", self.s.run("symm.Local(symm.F32, 4)").python)
        self.assertEqual(self.s.run("symm.Rank()", ranks=1).rank_values, {1: 1})
        for text in ("", "{", "[]int{", "[]int{1", "map[a]b{", "(1+2", "[]" * 5000 + "int{}", "[]any{" * 5000, "x{a: }", '"', "-", "…", "&", "[]int{1 2"):
            literals.read(text)  # raises nothing

    def test_elements_of_all_types(self):
        for name in ("c64", "c128"):
            self.s.run(f"c := symm.Empty(symm.{name.upper()}, 2).Fill(complex(1, float64(symm.Rank())))")
            self.assertEqual(self.s["c"].rank_values, {0: [1, 1], 1: [1 + 1j, 1 + 1j]})
            self.s.put("c", self.s.get("c", 1, to="tensor"))
            self.assertEqual((self.s["c"].dtype, self.s["c"].rank_values[0]), (name, [1 + 1j, 1 + 1j]))
            self.s.put("d", {0: self.s.get("c", 0, to="tensor"), 1: self.s.get("c", 1, to="tensor")})
            self.assertEqual(self.s["d"].rank_values[1], [1 + 1j, 1 + 1j])
        self.assertEqual(self.s.rank_values("[]complex128{2i}", 0), {0: [2j]})
        self.s.run("b := symm.Empty(symm.Bool, 2)")
        self.s.put("b", symmrepl.Tensor(symmrepl.tensors.dtype_of("bool"), (2,), b"\1\0"))
        self.assertEqual(self.s["b"].rank_values[1], [True, False])
        self.assertEqual([f for f in os.listdir(self.s._folder) if f != "lock"], [])  # no file is left


if __name__ == "__main__":
    unittest.main()
