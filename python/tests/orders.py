"""Runs programs of the cpu device in many orders. One process imports PyTorch, and forks the ranks of each run.

    python orders.py 200 2,4 programs/one_shot.py …    200 orders each on 2 and on 4 ranks: says what the sanitizer finds

Without arguments a line of JSON on the standard input is a run, and a line on the standard output answers it:

    {"program": "programs/ring.py", "arguments": ["cpu"], "ranks": 2, "seed": 3}    without a seed: not watched
    {"statuses": [0, 0], "output": "right\\nright\\n", "findings": []}
"""

import atexit
import json
import os
import pathlib
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback

import torch.distributed._symmetric_memory
import torch.fx.experimental.symbolic_shapes  # noqa: F401, which empty imports
from symmrepl.emulator import sanitize
from symmrepl.emulator.companion import Companion

LIMIT = 120
"""The most seconds of a run."""


def run(program, arguments, ranks, seed=None, limit=LIMIT):
    """Runs a program once, on so many ranks."""
    keeper = Companion() if seed is not None else None
    environment = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _port(), "OMP_NUM_THREADS": 1}
    if keeper is not None:
        environment.update(SYMMREPL_SANITIZE=keeper.shadow(), SYMMREPL_SEED=seed)
    folder = tempfile.mkdtemp()  # not TemporaryDirectory, which the ranks would remove
    try:
        files = [pathlib.Path(folder, f"{r}.{kind}") for r in range(ranks) for kind in ("output", "reports")]
        for f in files:
            f.touch()
        children = [_fork(program, arguments, {**environment, "RANK": r, "LOCAL_RANK": r}, *files[2 * r : 2 * r + 2]) for r in range(ranks)]
        statuses = _wait(children, limit)
        output = "".join(f.read_text() for f in files[::2])
        reports = [json.loads(line) for f in files[1::2] for line in f.read_text().splitlines()]
    finally:
        shutil.rmtree(folder)
    answer = {"statuses": statuses, "output": output}
    if keeper is not None:
        unwatched = [r for r in range(ranks) if not any(report["rank"] == r and report.get("ended") for report in reports)]
        answer.update(findings=keeper.findings(reports), unwatched=unwatched)
    return answer


def _port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _fork(program, arguments, environment, output, reports):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        for descriptor, file in ((0, os.devnull), (1, output), (2, output)):
            os.dup2(os.open(file, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_APPEND), descriptor)
        os.environ.update((name, str(value)) for name, value in environment.items())
        written = open(reports, "a", buffering=1)
        sanitize.deliver = lambda report: written.write(json.dumps(report) + "\n")
        sys.argv[:], sys.path[0] = [program, *arguments], os.path.dirname(program)
        runpy.run_path(program, run_name="__main__")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(status)


def _wait(children, limit):
    """Returns the statuses of processes. Those that do not end in time, or soon after one has failed, are killed."""
    deadline, statuses, failed = time.monotonic() + limit, {}, False
    while True:
        for child in (c for c in children if c not in statuses):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                statuses[child] = os.waitstatus_to_exitcode(status)
        if len(statuses) == len(children):
            return [statuses[child] for child in children]
        if any(statuses.values()) and not failed:
            failed, deadline = True, min(deadline, time.monotonic() + 1)
        if time.monotonic() > deadline:
            for child in (c for c in children if c not in statuses):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


def main(orders, worlds, *programs):
    wrong = 0
    for program in programs:
        for ranks in map(int, worlds.split(",")):
            began = time.monotonic()
            for seed in range(int(orders)):
                answer = run(os.path.abspath(program), ["cpu"], ranks, seed)
                if any(answer["statuses"]) or answer["findings"] or answer["unwatched"]:
                    wrong += 1
                    print(f"{program}, {ranks} ranks, order {seed}: {json.dumps(answer, indent=1)}", flush=True)
            print(f"{program}, {ranks} ranks: {orders} orders in {time.monotonic() - began:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(*sys.argv[1:]))
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
