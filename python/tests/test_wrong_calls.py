"""Calls with wrong arguments: each raises TypeError or ValueError that names the argument, and the session stays.

SYMMREPL_WRONG_CALLS is the number of random calls, SYMMREPL_SEED the seed.
"""

import array
import itertools
import os
import pathlib
import random
import unittest

import symmrepl
from symmrepl import _arguments as arguments
from symmrepl import results

DEVICE = os.environ.get("SYMMREPL_TEST_DEVICE", "cpu")
CALLS = int(os.environ.get("SYMMREPL_WRONG_CALLS", "2000"))
SEED = int(os.environ.get("SYMMREPL_SEED", "1"))


class Odd:
    """An object that fails wherever it is used."""

    def __float__(self):
        raise ValueError("no number")

    def __index__(self):
        raise TypeError("no index")

    def __len__(self):
        return -1

    def __repr__(self):
        return "Odd()"


def values():
    """Returns values of all kinds, each made anew."""
    return [
        None, True, False, 0, 1, -1, 7, 2**31, 2**63, 2**70, -(2**64), 0.0, -0.5, 1e308, float("nan"), float("inf"), 1j,
        "", "0", "t", "nosuch", "symm", "fmt", "len", "int", "func", "_", "a b", "t +", "t[0]", "x := 1", "1\n2", "\0", "\ud800", "ü" * 3, "x" * 70000,
        ":nosuch", "}", '"', "`", "[0]", "0-99999999999", b"", b"t", bytearray(b"\xff"), memoryview(b"abcdef")[::2], array.array("f", [1, 2]),
        [], [0], [0, 0], [7], [-1], ["0"], [[0]], [None], [1.5], [True], [2**70], (), (1,), {}, {0: [1.0]}, {"0": 1}, {0: 1, 1: None}, {None: 1}, set(), {1},
        range(2), range(10**12), iter([0]), itertools.count(), object(), Odd(), object, print, lambda: 5, lambda *a, **k: None, pathlib.Path("x"),
        Exception("e"), ...,
    ]  # fmt: skip


NONE = type(None)
NUMBERS = (int, float)
ACCEPTED = {
    "run": {"source": (str,), "ranks": None, "check": (bool,), "timeout": (*NUMBERS, NONE), "name": (str,), "line": (int,), "silent": (bool,),
            "on_output": None, "stdin": None},
    "get": {"expr": (str,), "rank": (int, NONE), "to": (str, NONE), "device": (str, NONE)},
    "get_by_rank": {"expr": (str,), "ranks": None, "to": (str, NONE), "device": (str, NONE)},
    "put": {"name": (str,), "value": None, "ranks": None, "by_rank": (bool,), "symmetric": (bool,), "dtype": (str, NONE)},
    "restart": {"ranks": None, "replay": (bool,)},
    "variables": {"rank": (int,)},
    "sanitize": {"on": (bool,)}, "rank_values": {"expr": (str,), "ranks": None}, "barrier": {"ranks": None},
    "all_reduce": {"tensor": (str,), "op": (str,), "group": (str, NONE), "ranks": None},
    "one_shot_all_reduce": {"tensor": (str,), "op": (str,), "group": (str, NONE), "ranks": None},
    "all_gather_into_tensor": {"output": (str, NONE), "input": (str,), "group": (str, NONE), "ranks": None},
    "reduce_scatter_tensor": {"output": (str, NONE), "input": (str,), "op": (str,), "group": (str, NONE), "ranks": None},
    "broadcast": {"tensor": (str,), "src": (int,), "group": (str, NONE), "ranks": None},
    "__getitem__": {"name": (str,)}, "__setitem__": {"name": (str,), "value": None},
}  # fmt: skip
"""The arguments of methods, and the types that they may have. None: the types depend on more."""

RIGHT = {
    "run": {"source": "1"}, "get": {"expr": "t"}, "get_by_rank": {"expr": "t"}, "put": {"name": "v", "value": b"abcd"}, "restart": {"ranks": [7]},
    "variables": {}, "sanitize": {"on": False}, "rank_values": {"expr": "t"}, "barrier": {}, "all_reduce": {"tensor": "u"},
    "one_shot_all_reduce": {"tensor": "u"}, "all_gather_into_tensor": {"output": None, "input": "u"}, "reduce_scatter_tensor": {"output": None, "input": "u"},
    "broadcast": {"tensor": "u"}, "__getitem__": {"name": "t"}, "__setitem__": {"name": "v", "value": b"abcd"},
}  # fmt: skip
"""A call of each method, in which one argument is replaced."""


def right_ranks(value):
    """Reports whether restart takes a value for the ranks of a session of 2."""
    try:
        arguments.ranks("ranks", value, 2)
        return True
    except (TypeError, ValueError):
        return False


class WrongCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s = symmrepl.start(2, DEVICE)
        cls.addClassCleanup(cls.s.close)
        cls.s.run("t := symm.Empty(symm.F32, 4).Fill(symm.Rank()); u := symm.Empty(symm.F32, 4)")

    def holds(self, call):
        """Reports a session that is not as it was."""
        r = self.s.run("symm.AllClose(t, symm.Local(symm.F32, 4).Fill(symm.Rank()))", check=False)
        self.assertEqual((r.errors, [v.text for v in r.values]), ([], ["true"]), call)

    def wrong(self, call, argument, function, must_fail):
        """Makes a wrong call."""
        try:
            function()
        except symmrepl.SessionLost as e:
            self.fail(f"{call}: {e}")
        except (TypeError, ValueError) as e:
            if must_fail:
                self.assertIn(argument, str(e), call)
        except symmrepl.SymmreplError as e:
            if must_fail:
                self.fail(f"{call}: {e!r} is no TypeError or ValueError")
        else:
            if must_fail:
                self.fail(f"{call} does not fail")

    def test_methods(self):
        chance = random.Random(SEED)
        for number in range(CALLS):
            method = chance.choice(list(ACCEPTED))
            argument = chance.choice(list(ACCEPTED[method]))
            types, value = ACCEPTED[method][argument], chance.choice(values())
            call = f"call {number} of seed {SEED}: {method}({argument}={value!r:.100})"
            if method == "restart" and argument == "ranks" and right_ranks(value) or method in ("put", "__setitem__", "all_reduce", "broadcast") and value == "t":
                continue  # this call is right
            must_fail = types is not None and type(value) not in types
            function = getattr(self.s, method)
            given = {**RIGHT[method], argument: value}
            self.wrong(call, argument, lambda function=function, given=given: function(**given), must_fail)
            if number % 10 == 0:
                self.holds(call)
        self.holds("the last call")

    def test_known(self):
        s = self.s
        for argument, call in (
            ("rank", lambda: s.get("t", [0])), ("rank", lambda: s.get("t", "0")), ("rank", lambda: s.get("t", 2)), ("source", lambda: s.run(5)),
            ("source", lambda: s.run(None)), ("ranks", lambda: s.run("1", ranks="0")), ("ranks", lambda: s.restart("0")), ("ranks", lambda: s.run("1", [])),
            ("name", lambda: s.put(5, [1.0])), ("value", lambda: s.put("x", {})), ("name", lambda: s.put("symm", memoryview(b"a"))),
            ("name", lambda: s.put("symm", 5)), ("name", lambda: s.put("int", 5)), ("name", lambda: s.put("func", 5)), ("name", lambda: s.put("x y", 5)),
            ("source", lambda: s.run("\ud800")), ("value", lambda: s.put("x", 2**63)), ("value", lambda: s.put("x", None)), ("dtype", lambda: s.put("x", b"", dtype="f3")),
            ("expr", lambda: s.get("t +")), ("to", lambda: s.get("t", to="jax")), ("device", lambda: s.get("t", device="gpu")), ("timeout", lambda: s.run("1", timeout=float("nan"))),
            ("source", lambda: s.run("\x01" * (20 << 20))), ("source", lambda: s.run("x" * (70 << 20))),
            ("ranks", lambda: s.get_by_rank("t", range(10**12))), ("stdin", lambda: s.run("1", stdin="lines")),
            ("ranks", lambda: results.parse_ranks("0-99999999999")), ("rank", lambda: s.run("1").output(rank=7)), ("streams", lambda: s.run("1").output(streams=5)),
        ):  # fmt: skip
            with self.assertRaises((TypeError, ValueError)) as raised:
                call()
            self.assertIn(argument, str(raised.exception))
            self.holds(argument)

    def test_start(self):
        for argument, wrong in (
            ("n", [0, -1, "2", 1.5, True, 2**70, [2]]), ("device", [5, b"cpu", "\0"]), ("backend", [5]), ("hosts", [2]), ("net", [True]),
            ("deadlock", [5]), ("sanitize", ["yes"]), ("env", [5, ["a"], {5: "a"}, {"A": 5}, {"": "a"}, {"A=B": "c"}, {"A": "\0"}]),
            ("timeout", ["5", float("nan"), float("inf"), -1, None]),
        ):  # fmt: skip
            for value in wrong:
                with self.subTest(f"{argument}={value!r}"), self.assertRaises((TypeError, ValueError)) as raised:
                    symmrepl.start(**{argument: value})
                self.assertIn(argument, str(raised.exception))
        for value in (5, b"/tmp", "\0"):
            with self.assertRaises((TypeError, ValueError)) as raised:
                symmrepl.attach(value)
            self.assertIn("directory", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
