"""Measures the times that a notebook's user waits: python latency.py [RANKS], with a kernel installed by `symmrepl kernel install`.

The tables are of symmrepl and, where it is installed, of Python's ipykernel. The first has medians of 500 cells as nbclient executes them, for cells
with a result, without one, and of a comment: what the last take is nearly all nbclient's. The second is what a client sees that waits for the reply
and the idle message and does nothing else.
"""

import statistics
import sys
import time

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS, WARM, PRINTS = 500, 50, 20000

# For each kernel: cells with a number to fill in, and a cell that prints.
SOURCES = {
    "symmrepl": (("{} + 1", "x := {}", "// {}"), f"for i := range {PRINTS} {{ fmt.Println(i) }}"),
    "python3": (("{} + 1", "x = {}", "# {}"), f"for i in range({PRINTS}): print(i)"),
}


def milliseconds(seconds):
    return f"{1000 * statistics.median(seconds[WARM:]):.2f}"


def by_nbclient(kernel, arguments, source):
    nb = new_notebook(cells=[new_code_cell(source.format(i)) for i in range(WARM + CELLS)])
    client, took = NotebookClient(nb, timeout=60, kernel_name=kernel, extra_arguments=arguments), []
    with client.setup_kernel():
        for i, cell in enumerate(nb.cells):
            start = time.perf_counter()
            client.execute_cell(cell, i)
            took.append(time.perf_counter() - start)
    return milliseconds(took)


class Client:
    """Sends a cell and reads the messages that it causes, without decoding them."""

    def __init__(self, kernel, arguments):
        start = time.perf_counter()
        self.manager, self.client = start_new_kernel(kernel_name=kernel, extra_arguments=arguments)
        self.cell("1 + 1")
        self.started = time.perf_counter() - start

    def cell(self, code):
        start = time.perf_counter()
        self.client.execute(code)
        while b'"idle"' not in self.client.iopub_channel.socket.recv_multipart()[-1]:
            pass
        self.client.shell_channel.socket.recv_multipart()
        return time.perf_counter() - start

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()


def main(ranks):
    kernels = {"symmrepl": (f"symmrepl, {ranks} ranks", ["--ranks", ranks])}
    if "python3" in KernelSpecManager().find_kernel_specs():
        kernels["python3"] = ("ipykernel", [])
    print("| nbclient, ms a cell | `7 + 1` | `x := 7` | a comment |\n|---|---:|---:|---:|")
    for kernel, (name, arguments) in kernels.items():
        print(f"| {name} | {' | '.join(by_nbclient(kernel, arguments, s) for s in SOURCES[kernel][0])} |", flush=True)
    print(f"\n| a client that only reads | `7 + 1`, ms | {PRINTS} prints, s | new kernel to first result, s |\n|---|---:|---:|---:|")
    for kernel, (name, arguments) in kernels.items():
        cells, prints = SOURCES[kernel]
        client = Client(kernel, arguments)
        took = milliseconds([client.cell(cells[0].format(i)) for i in range(WARM + CELLS)])
        printed = min(client.cell(prints) for _ in range(3))
        client.close()
        print(f"| {name} | {took} | {printed:.2f} | {client.started:.2f} |", flush=True)


main(*sys.argv[1:] or ["4"])
