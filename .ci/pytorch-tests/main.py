#!/usr/bin/env python3
"""Runs PyTorch's own tests of symmetric memory on the cpu device, and prints a table of what passes.

Usage: main.py [-n RANKS] [-t SECONDS] [-k PATTERN] [-v] [FILE...]

The Python that runs it has PyTorch, and symmrepl on its path. FILE is a file of PyTorch's repository, of the version
that is installed; without one, those of FILES are downloaded. Each case has SECONDS. A case after which others of its
class are left out has them run again, without it.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import on_cpu

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["test_symmetric_memory.py", "test_nvshmem.py", "test_nccl.py"]
ADDRESS = "https://raw.githubusercontent.com/pytorch/pytorch/{}/test/distributed/{}"

GROUPS = [
    (r"SymmMemCleanupTest", "what a GPU does to its end after an error or on a second stream"),
    (r"applies to the CUDA symm mem backend|cuda-python", "PyTorch's own back end for CUDA alone: its streams, graphs and profiles"),
    (
        r"sm>=90|PersistentAsyncInputScheduler|multimem_all_gather_kernel|No activities specified for the profiler",
        "looks for a kernel of a GPU in a profile",
    ),
    (r"_select_low_contention_all_gather_target", "a pass of Inductor that asks CUDA for its device"),
    (r"ROCm", "for ROCm alone"),
    (r"CUDAGraph", "captures a graph of CUDA"),
    (r"torchcomms", "torchcomms is not installed"),
    (r"_all_gather_base", "a rendezvous by the process group's collectives, which NCCL's recorder shows"),
    (r"make_a2a", "functions that this version has no more"),
    (r"ProcessGroupNCCL|ncclComm|nccl_comm|NCCLXStub", "NCCL's own interface"),
    (r"ProcessGroupGloo::alltoall", "gloo's all_to_all of unequal sizes, by which the test checks"),
    (r"hdl1\.offset", "two tensors of a pool in one allocation"),
    (r"_detect_dma_connectivity", "NVLink between GPUs"),
    (r"^no result in", "does not end"),
]
"""The reasons for which cases do not pass: a pattern in the reason that unittest gives, and the group."""


def download(folder):
    import torch

    for name in FILES:
        with urllib.request.urlopen(ADDRESS.format(torch.version.git_version, name), timeout=60) as answer:
            path = folder / name
            path.write_bytes(answer.read())
            yield path


class Run:
    """The cases of one file."""

    def __init__(self, source, folder, seconds, verbose):
        self.module, self.folder, self.seconds, self.verbose = source.stem, folder, seconds, verbose
        (folder / source.name).write_text(on_cpu.changed(source.read_text()))
        self.outcomes = {}

    def process(self, *arguments):
        """Starts cases.py in a session of its own, and returns the process and the file of its results."""
        results = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json", delete=False)
        path = os.pathsep.join([str(self.folder), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        with open(results.name + ".err", "wb") as errors:
            process = subprocess.Popen(
                [sys.executable, str(HERE / "cases.py"), self.module, results.name, *arguments],
                stdout=errors, stderr=errors, stdin=subprocess.DEVNULL, start_new_session=True, env=environment, cwd=self.folder,
            )  # fmt: skip
        return process, results

    def cases(self):
        """Returns the cases by class."""
        process, results = self.process()
        process.wait()
        found = collections.defaultdict(list)
        for line in results:
            kind, case = json.loads(line)
            found[kind].append(case)
        if process.returncode:
            raise SystemExit(pathlib.Path(results.name + ".err").read_text())
        return found

    def run(self, cases):
        """Runs cases of a class until all have an outcome."""
        while cases:
            process, results = self.process(*cases)
            running, since = None, time.monotonic()
            while True:
                ended = process.poll() is not None
                for line in iter(results.readline, b""):
                    case, *outcome = json.loads(line)
                    running, since = None if outcome else case, time.monotonic()
                    if outcome and not (outcome[0] == "skipped" and outcome[1].startswith("Previous test failed")):
                        self.told(case, *outcome)
                if ended:
                    if running:
                        errors = pathlib.Path(results.name + ".err").read_text(errors="replace")
                        self.told(running, "failed", f"the process ended with status {process.returncode}\n{errors[-2000:]}")
                    break
                if time.monotonic() - since > self.seconds:
                    if running:
                        self.told(running, "failed", f"no result in {self.seconds} s")
                    break
                if all(case in self.outcomes for case in cases):  # its ranks may stand
                    break
                time.sleep(0.1)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            left = [case for case in cases if case not in self.outcomes]
            if len(left) == len(cases):
                for case in left:
                    self.told(
                        case, "failed", "it did not start: " + pathlib.Path(results.name + ".err").read_text(errors="replace")[-2000:]
                    )
            cases = [case for case in cases if case not in self.outcomes]

    def told(self, case, outcome, reason):
        self.outcomes[case] = outcome, reason
        print(f"{case}: {outcome}", file=sys.stderr, flush=True)
        if self.verbose and reason:
            print("  " + reason.strip().replace("\n", "\n  "), file=sys.stderr, flush=True)


def group(reason):
    return next((name for pattern, name in GROUPS if re.search(pattern, reason)), "a fault or a gap of the cpu device")


def table(runs):
    """Returns a table in Markdown: a row for each file, and one for each group of cases that do not pass."""
    lines = ["| File | Cases | Passed | Not | Why not |", "|---|---|---|---|---|"]
    for run in runs:
        reasons = collections.Counter(group(reason) for outcome, reason in run.outcomes.values() if outcome != "passed")
        passed = len(run.outcomes) - sum(reasons.values())
        lines.append(f"| `{run.module}.py` | {len(run.outcomes)} | {passed} | {sum(reasons.values())} | |")
        lines += [f"| | | | {count} | {why} |" for why, count in reasons.most_common()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", "--ranks", type=int, default=on_cpu.RANKS)
    parser.add_argument("-t", "--seconds", type=float, default=60)
    parser.add_argument("-k", "--pattern", default="")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    os.environ["SYMMREPL_TEST_RANKS"] = str(given.ranks)
    with tempfile.TemporaryDirectory() as folder:
        fetched = pathlib.Path(folder, "fetched")
        fetched.mkdir()
        runs = []
        for source in given.files or download(fetched):
            run = Run(source, pathlib.Path(folder), given.seconds, given.verbose)
            runs.append(run)
            for cases in run.cases().values():
                run.run([case for case in cases if re.search(given.pattern, case)])
        print(table(runs))


main()
