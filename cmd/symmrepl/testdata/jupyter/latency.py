"""Measures what a notebook's user waits for: python latency.py [RANKS], with a kernel installed by `symmrepl kernel install`.

The table has the medians of 500 cells as nbclient executes them, on symmrepl, on Python's ipykernel, and on a kernel that does nothing but send the
messages of a cell; and as a client sees them that waits for the reply and the idle message and does nothing else. What a kernel that does nothing
takes is nbclient's own.
"""

import json
import os
import signal
import statistics
import sys
import tempfile
import time

import zmq
from jupyter_client.manager import start_new_kernel
from jupyter_client.session import Session
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CELLS, WARM, PRINTS = 500, 50, 20000


def echo(connection):
    """A kernel that answers every cell with its number."""
    with open(connection) as f:
        file = json.load(f)
    context, session = zmq.Context(), Session(key=file["key"].encode(), signature_scheme=file["signature_scheme"])
    sockets = {}
    for name, kind in (("shell", zmq.ROUTER), ("control", zmq.ROUTER), ("stdin", zmq.ROUTER), ("iopub", zmq.PUB), ("hb", zmq.REP)):
        sockets[name] = context.socket(kind)
        sockets[name].bind(f"tcp://{file['ip']}:{file[name + '_port']}")
    poller, count = zmq.Poller(), 0
    for name in ("shell", "control", "hb"):
        poller.register(sockets[name], zmq.POLLIN)
    while True:
        for socket, _ in poller.poll():
            if socket is sockets["hb"]:
                socket.send(socket.recv())
                continue
            ids, message = session.recv(socket, mode=0)
            kind = message["msg_type"]
            publish = lambda kind, content: session.send(sockets["iopub"], kind, content, parent=message)
            publish("status", {"execution_state": "busy"})
            reply = {"status": "ok", "language_info": {"name": "text"}, "protocol_version": "5.3", "implementation": "echo"}
            if kind == "execute_request":
                count += 1
                reply = {"status": "ok", "execution_count": count, "payload": [], "user_expressions": {}}
                publish("execute_input", {"code": message["content"]["code"], "execution_count": count})
                publish("execute_result", {"execution_count": count, "data": {"text/plain": str(count)}, "metadata": {}})
            session.send(socket, kind.replace("_request", "_reply"), reply, parent=message, ident=ids)
            publish("status", {"execution_state": "idle"})
            if kind == "shutdown_request":
                return


def install_echo(data):
    folder = os.path.join(data, "kernels", "echo")
    os.makedirs(folder)
    with open(os.path.join(folder, "kernel.json"), "w") as f:
        json.dump({"argv": [sys.executable, os.path.abspath(__file__), "echo", "{connection_file}"], "display_name": "echo", "language": "text"}, f)


def by_nbclient(kernel, arguments):
    nb = new_notebook(cells=[new_code_cell(f"{i} + 1") for i in range(WARM + CELLS)])
    client, took = NotebookClient(nb, timeout=60, kernel_name=kernel, extra_arguments=arguments), []
    with client.setup_kernel():
        for i, cell in enumerate(nb.cells):
            start = time.perf_counter()
            client.execute_cell(cell, i)
            took.append(time.perf_counter() - start)
    return took[WARM:]


class Client:
    """Sends a cell and reads the messages that come of it, without looking into them."""

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
        self.manager.shutdown_kernel(now=self.manager.kernel_name == "echo")


def main(ranks):
    rows = []
    with tempfile.TemporaryDirectory() as data:
        install_echo(data)
        os.environ["JUPYTER_PATH"] = data + os.pathsep + os.environ.get("JUPYTER_PATH", "")
        for kernel, arguments in (("symmrepl", ["--ranks", ranks]), ("echo", []), ("python3", [])):
            client = Client(kernel, arguments)
            direct = [client.cell(f"{i} + 1") for i in range(WARM + CELLS)][WARM:]
            prints = f"for i := range {PRINTS} {{ fmt.Println(i) }}" if kernel == "symmrepl" else f"for i in range({PRINTS}): print(i)"
            printed = min(client.cell(prints) for _ in range(3))
            started = client.started
            client.close()
            rows.append((kernel, statistics.median(by_nbclient(kernel, arguments)), statistics.median(direct), printed, started))
    print(f"| kernel | a cell from nbclient, ms | a cell, ms | {PRINTS} prints, s | new kernel to first result, s |\n|---|---:|---:|---:|---:|")
    for kernel, nbclient, direct, printed, started in rows:
        name = {"symmrepl": f"symmrepl, {ranks} ranks", "echo": "one that does nothing", "python3": "ipykernel"}[kernel]
        rest = " | |" if kernel == "echo" else f"{printed:.2f} | {started:.2f} |"
        print(f"| {name} | {1000 * nbclient:.2f} | {1000 * direct:.2f} | {rest}")


if sys.argv[1:2] == ["echo"]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    echo(sys.argv[2])
else:
    main(*sys.argv[1:] or ["4"])
