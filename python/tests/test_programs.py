"""Programs on PyTorch's symmetric memory as users write them, in the folder programs, and what is told of their defects.

.ci/torch runs these tests. SYMMREPL_ORDERS is the number of orders in which the right programs must be silent, 5 without it.
"""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent / "programs"
ORDERS = int(os.environ.get("SYMMREPL_ORDERS", "5"))

RACES = {
    "one_shot": ("race with the host", "t.fill_(rank + step)", "total += inputs[p][i]"),
    "two_shot": ("race between ranks", "tensors[rank][i] = total;", "out[i] = tensors[i / part][i];"),
    "ring": ("race with the host", "theirs[block].copy_(t[block])", "gathered = t.clone()"),
    "cas_barrier": ("order too weak", "tensors[p][rank * n + i] = value + p;", "out[p * n + i] = tensors[rank][p * n + i];"),
    "gather_matmul": ("race with the host", "rows.copy_(", "torch.mm(theirs, b,"),
    "lamport": ("race between ranks", "now + rank * n + i) = __float_as_uint(in[i]);", "words[rank][before + p * n + i] = empty;"),
    "words": ("race with the host", "theirs.fill_(10 * rank + step)", "out[threadIdx.x] = data[threadIdx.x];"),
    "memory_pool": ("race with the host", "x.mul_(2)", "doubled = h.get_remote_tensor(right, (N,), torch.float32).clone()"),
    "dispatch": ("out of bounds", "row[0] = rank;", "dispatch(grid="),
    "story_192581": ("race with the host", "few_h.get_buffer(0, (N,), torch.int32).fill_(7)", "got = data.clone()"),
}
"""The defects that the sanitizer finds: the kind of the finding, and the texts of two lines, of one access also that of the launch."""

OTHERS = {
    "all_to_all": (
        ("h.wait_signal(peer, channel=peer)", "h.put_signal(peer,"),
        r"rank 1  waits in wait_signal at all_to_all\.py:{0} for rank 0: a signal on channel 0; "
        r"rank 0 has put one on channel 1 at all_to_all\.py:{1}",
    ),
    "two_streams": (
        ("h.wait_signal(left, channel=FREE if broken", "h.put_signal(right, channel=DATA)"),
        r"rank 1  waits in wait_signal at two_streams\.py:{0} for rank 0: a signal on channel 1; "
        r"rank 0 has put one on channel 0 at two_streams\.py:{1}",
    ),
    "subgroup": (
        ("h = symm_mem.rendezvous(t, pair)",),
        r"Mismatch: rank 1: rendezvous: size is 132 bytes here and 128 on rank 0 \(called at subgroup\.py:{0}\)",
    ),
    "story_191618": (
        ("h.put_signal(right,",),
        r"Misuse: rank 0: put_signal: channel 4999: the maximum supported channel is \d+, for a pad of 9216 bytes .*"
        r"\(called at story_191618\.py:{0}\)",
    ),
    "story_163194": (
        ("torch.ops.symm_mem.nvshmem_get(",),
        r"Misuse: rank 0: nvshmem_get: tensor is the memory of another rank: .* \(called at story_163194\.py:{0}\)",
    ),
}
"""The defects that are told without the sanitizer: the texts of lines, and what is told, with their numbers."""

WORK = {"story_196082": (), "story_188005": ("--broken",)}
"""Programs that stand on GPUs and work here, with their arguments."""

PROGRAMS = sorted({*RACES, *OTHERS, *WORK})


def line(program, text):
    """Returns the number of the only line of a program with a text."""
    (found,) = (i for i, source in enumerate((FOLDER / f"{program}.py").read_text().splitlines(), 1) if text in source)
    return found


def lines_of(finding):
    """Returns the files and lines of a finding: of its accesses, and of the launch if there is only one."""
    places = [(a["file"], a["line"]) for a in finding["accesses"]]
    if len(places) == 1:
        file, number = re.fullmatch(r"(.*):(\d+)", finding["accesses"][0]["launched"]).groups()
        places.append((file, int(number)))
    return {(pathlib.Path(file).name, number) for file, number in places}


class Case(unittest.TestCase):
    """Runs programs by orders.py."""

    @classmethod
    def setUpClass(cls):
        command = [sys.executable, "-W", "ignore", pathlib.Path(__file__).with_name("orders.py")]
        cls.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @classmethod
    def tearDownClass(cls):
        cls.process.communicate(timeout=60)

    def run_program(self, name, ranks, *arguments, **more):
        question = {"program": str(FOLDER / f"{name}.py"), "arguments": ["cpu", *arguments], "ranks": ranks, **more}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def found(self, name, findings, told):
        kind, *texts = RACES[name]
        wanted = {(f"{name}.py", line(name, text)) for text in texts}
        self.assertIn((kind, wanted), [(f["kind"], lines_of(f)) for f in findings], told)


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Right(Case):
    """The right programs compute the right values, and are silent."""

    def test_values(self):
        for name in PROGRAMS:
            for ranks in (2, 4):
                with self.subTest(program=name, ranks=ranks):
                    answer = self.run_program(name, ranks, *WORK.get(name, ()))
                    # PyTorch built for CUDA warns where there is no driver
                    said = [words for words in answer.pop("output").splitlines() if "Warning: CUDA initialization: " not in words]
                    self.assertEqual((answer, said), ({"statuses": [0] * ranks}, ["right"] * ranks))

    def test_silent(self):
        for name in PROGRAMS:
            for ranks in (2, 4):
                for seed in range(ORDERS):
                    with self.subTest(program=name, ranks=ranks, seed=seed):
                        answer = self.run_program(name, ranks, seed=seed)
                        got = answer["findings"], answer["unwatched"], answer["statuses"]
                        self.assertEqual(got, ([], [], [0] * ranks), answer["output"])

    def test_torchrun(self):
        """PyTorch's own torchrun runs them."""
        for name in ("one_shot", "two_streams"):
            command = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
            done = subprocess.run([*command, FOLDER / f"{name}.py", "cpu"], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.stdout.split(), ["right"] * 2, done.stderr)


@unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
class Broken(Case):
    """What is told of the defects: on 2 ranks by the command, of races on 4 ranks by the sanitizer alone."""

    def told(self, name, ranks, *flags):
        done = subprocess.run(
            [os.environ["SYMMREPL"], "torchrun", "-n", str(ranks), "--timeout", "2m", *flags, f"{name}.py", "cpu", "--broken"],
            cwd=FOLDER, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300,
            env={**os.environ, "SYMMREPL_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"},
        )  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        return done

    def test_races(self):
        for name in RACES:
            with self.subTest(program=name, ranks=2):
                done = self.told(name, 2, "--sanitize", "--json")
                self.found(name, json.loads(done.stdout)["findings"], done.stderr)
            with self.subTest(program=name, ranks=4):
                answer = self.run_program(name, 4, "--broken", seed=0, limit=20)  # it may hang, too
                self.found(name, answer["findings"], answer["output"])

    def test_others(self):
        for name, (texts, told) in OTHERS.items():
            for ranks in (2, 4):
                with self.subTest(program=name, ranks=ranks):
                    done = self.told(name, ranks)
                    self.assertRegex(done.stderr, told.format(*(line(name, text) for text in texts)))


if __name__ == "__main__":
    unittest.main()
