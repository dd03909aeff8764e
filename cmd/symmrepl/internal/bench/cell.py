"""What the Python libraries reach, for the table of `symmrepl bench cell`: cell.py DEVICE RANKS.

Prints a line for each figure: what, by whom, and the time; or "-", by whom, and why it could not be measured.
"""

import subprocess
import sys
import time

device, ranks = sys.argv[1], int(sys.argv[2])
rounds, calls, cells, edits = 9, 500, 300, 5
start, trip = "start to the first value, ms", "cell x := 1 on all ranks, ms"
edited, cached = "edited kernel to its result, ms", "the same kernel again, ms"
launch, fill = "launch of a kernel, µs", "fill of 4 KiB, µs"
text = 'extern "C" __global__ void timed(int* out) { out[threadIdx.x] = threadIdx.x + %d; }'


def say(what, way, seconds):
    print(what, way, f"{seconds * (1e6 if what.endswith('µs') else 1e3):.3f}", sep="\t", flush=True)


def median(times):
    return sorted(times)[len(times) // 2]


def timed(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def each(f, settle):
    """The median time of a call in a loop, without that of the device."""
    times = []
    for _ in range(rounds):
        settle()
        begin = time.perf_counter()
        for _ in range(calls):
            f()
        times.append((time.perf_counter() - begin) / calls)
        settle()
    return median(times)


def fresh(way, code):
    say(start, way, timed(lambda: subprocess.run([sys.executable, "-c", code], check=True)))


def edit(way, run):
    """run(source, number) compiles and launches a kernel, and returns its last result."""
    times = {edited: [], cached: []}
    for number in range(time.time_ns() % 10**8, time.time_ns() % 10**8 + edits):
        for what, list in times.items():
            begin = time.perf_counter()
            assert run(text % number, number) == 31 + number
            list.append(time.perf_counter() - begin)
    for what, list in times.items():
        say(what, way, median(list[1:]))


def cupy():
    import cupy

    fresh("CuPy", "import cupy; int(cupy.ones(1)[0])")
    out, floats = cupy.zeros(32, cupy.int32), cupy.zeros(1024, cupy.float32)

    def run(source, number):
        cupy.RawKernel(source, "timed")((1,), (32,), (out,))
        return int(out[31])

    edit("CuPy", run)
    nothing = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    settle = cupy.cuda.Device().synchronize
    say(launch, "CuPy", each(lambda: nothing((1,), (32,), ()), settle))
    say(fill, "CuPy", each(lambda: floats.fill(1), settle))


def torch():
    import torch

    fresh("PyTorch", f"import torch; torch.ones(1, device={device!r}).item()")
    floats = torch.zeros(1024, device=device)
    settle = torch.cuda.synchronize if device == "cuda" else lambda: None
    say(fill, "PyTorch", each(lambda: floats.fill_(1), settle))
    if device != "cuda":
        return
    out = torch.zeros(32, dtype=torch.int32, device=device)

    def run(source, number):
        torch.cuda._compile_kernel(source, "timed")((1, 1, 1), (32, 1, 1), (out,))
        return int(out[31])

    edit("PyTorch", run)


def ipykernel():
    import ipykernel
    from jupyter_client.manager import start_new_kernel

    begin = time.perf_counter()
    manager, client = start_new_kernel(kernel_name="python3")

    def cell():
        sent = client.execute("x = 1", silent=True, store_history=False)
        while client.get_shell_msg(timeout=60)["parent_header"]["msg_id"] != sent:
            pass

    try:
        cell()
        say(start, "ipykernel", time.perf_counter() - begin)
        say(trip, "ipykernel", median([timed(cell) for _ in range(cells)][cells // 10 :]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def ipyparallel():
    import ipyparallel

    begin = time.perf_counter()
    with ipyparallel.Cluster(n=ranks, log_level=50) as engines:
        view = engines[:]
        cell = lambda: view.execute("x = 1", silent=True, block=True)
        cell()
        say(start, "ipyparallel", time.perf_counter() - begin)
        say(trip, "ipyparallel", median([timed(cell) for _ in range(cells)][cells // 10 :]))


peers = [(torch, "PyTorch"), (ipykernel, "ipykernel"), (ipyparallel, "ipyparallel")]
if device == "cuda":
    peers.insert(0, (cupy, "CuPy"))
for measure, by in peers:
    try:
        measure()
    except Exception as e:
        print("-", by, (str(e).strip().split("\n") or [""])[0] or type(e).__name__, sep="\t", flush=True)
