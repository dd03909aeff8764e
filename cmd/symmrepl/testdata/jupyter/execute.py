"""Executes notebooks by nbclient: python execute.py RANKS RUNS NOTEBOOK...

RUNS are words joined by commas: "first" is in a new kernel, "again" in the same kernel once more, "restarted" after the kernel was restarted. For each
notebook and run a line is printed: a JSON array of the notebook's file, the run and the executed notebook.
"""

import asyncio
import json
import sys

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


async def execute(path, ranks, runs):
    km = AsyncKernelManager(kernel_name="symmrepl")
    await km.start_kernel(extra_arguments=["--ranks", ranks])
    try:
        for run in runs:
            if run == "restarted":
                await km.restart_kernel()
            nb = nbformat.read(path, 4)
            client = NotebookClient(nb, km=km, timeout=60)
            try:
                await client.async_execute()
            finally:
                client.kc.stop_channels()
            print(json.dumps([path, run, nb]), flush=True)
    finally:
        await km.shutdown_kernel()


async def main(ranks, runs, *paths):
    for path in paths:
        await execute(path, ranks, runs.split(","))


asyncio.run(main(*sys.argv[1:]))
