"""What the Python libraries reach, for the table of `symmrepl bench load`: load.py FOLDER COUNT DEVICE.

FOLDER has x.safetensors and x.npy of COUNT numbers. Prints a line for each figure: what, by whom, and the least of several times in
ms; or "-", by whom, and why it could not be measured.
"""

import os
import sys
import time

folder, count, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]
settle = lambda: None


def say(what, way, f):
    least = float("inf")
    for _ in range(5):
        settle()
        begin = time.perf_counter()
        f()
        settle()
        least = min(least, (time.perf_counter() - begin) * 1e3)
    print(what, way, f"{least:.3f}", sep="\t")


def path(name):
    return os.path.join(folder, name)


def numpy():
    import numpy as np

    x = np.load(path("x.npy"))
    say("save .npy", "numpy", lambda: np.save(path("theirs.npy"), x))
    say("load .npy", "numpy", lambda: np.load(path("x.npy")))


def safetensors():
    import safetensors.numpy as st

    x = st.load_file(path("x.safetensors"))
    say("save .safetensors", "safetensors", lambda: st.save_file(x, path("theirs.safetensors")))
    say("load .safetensors", "safetensors", lambda: st.load_file(path("x.safetensors")))


def torch():
    global settle
    import torch

    if device == "cuda":
        settle = torch.cuda.synchronize
    x, host = torch.rand(count, device=device), torch.rand(count)
    say("read", "PyTorch", lambda: x.cpu() if device == "cuda" else x.clone())
    say("read a slice of 4 KiB", "PyTorch", lambda: x[-1024:].cpu() if device == "cuda" else x[-1024:].clone())
    say("fill", "PyTorch", lambda: x.copy_(host))
    import safetensors.torch as st

    say("save .safetensors", "PyTorch", lambda: st.save_file({"x": x}, path("theirs.safetensors")))
    say("load .safetensors", "PyTorch", lambda: st.load_file(path("x.safetensors"), device=device))


for measure, by in ((numpy, "numpy"), (safetensors, "safetensors"), (torch, "PyTorch")):
    try:
        measure()
    except Exception as e:
        print("-", by, str(e).strip().split("\n")[0], sep="\t")
