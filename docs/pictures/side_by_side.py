"""Draws the same charts by symmrepl and by matplotlib's defaults, side by side, for docs/notebooks.md.

python side_by_side.py PROGRAM needs matplotlib and jupyter_client, and writes charts-*.png beside itself.
"""

import base64
import io
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from jupyter_client.manager import start_new_kernel
from PIL import Image

RANKS = 4
SIZES = [4096, 65536, 1048576, 16777216, 268435456]
OURS = [2.6, 3.1, 6.0, 52.0, 803.0]
THEIRS = [6.5, 6.9, 13.6, 61.0, 920.0]


def lines():
    for rank in range(RANKS):
        plt.plot([(i * (rank + 1)) % 17 for i in range(24)], label=f"rank {rank}")
    plt.legend()


def over():
    plt.plot(SIZES, OURS, marker="o")
    plt.plot(SIZES, THEIRS, marker="o")
    plt.xscale("log")
    plt.yscale("log")
    plt.title("all_reduce, us")


def heat():
    plt.imshow([[(r * 5 + c * 3) % 13 for c in range(16)] for r in range(8)])
    plt.colorbar()
    plt.title("tokens by expert")


def numbers(values):
    return "[]float64{" + ", ".join(map(str, values)) + "}"


PAIRS = {
    "lines": ("ys := make([][]float64, 4)\nfor r := range ys { for i := range 24 { ys[r] = append(ys[r], float64(i*(r+1)%17)) } }\n"
              'c := chart.Lines(ys[0], ys[1], ys[2], ys[3])\nc.Names = []string{"rank 0", "rank 1", "rank 2", "rank 3"}\nc', lines),
    "over": (f"c2 := chart.Over({numbers(SIZES)}, {numbers(OURS)}, {numbers(THEIRS)})\n"
             'c2.LogX, c2.LogY, c2.Title = true, true, "all_reduce, us"\nc2', over),
    "heat": ("m := make([][]float64, 8)\nfor r := range m { for c := range 16 { m[r] = append(m[r], float64((r*5+c*3)%13)) } }\n"
             'c3 := chart.Heat(m)\nc3.Title = "tokens by expert"\nc3', heat),
}


def picture(client, code):
    """Runs a cell, and returns the PNG that it shows."""
    found = []

    def keep(message):
        data = message["content"].get("data", {})
        if "image/png" in data:
            found.append(data["image/png"])
        if message["msg_type"] == "error":
            sys.exit("\n".join(message["content"]["traceback"]))

    client.execute_interactive(code, output_hook=keep, timeout=60)
    return Image.open(io.BytesIO(base64.b64decode(found[-1]))).convert("RGB")


def main(program):
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([program, "kernel", "install", "-n", "1", "--device", "cpu", "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        os.environ["JUPYTER_PATH"] = os.path.join(prefix, "share", "jupyter")
        manager, client = start_new_kernel(kernel_name="symmrepl")
        try:
            for name, (code, draw) in PAIRS.items():
                ours = picture(client, code)
                plt.figure(dpi=100)
                draw()
                png = io.BytesIO()
                plt.savefig(png, format="png")
                plt.close()
                theirs = Image.open(png).convert("RGB")
                height = 400
                both = [p.resize((p.width * height // p.height, height), Image.LANCZOS) for p in (ours, theirs)]
                side = Image.new("RGB", (sum(p.width for p in both) + 20, height), "white")
                side.paste(both[0], (0, 0))
                side.paste(both[1], (both[0].width + 20, 0))
                side.quantize(128).save(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"charts-{name}.png"), optimize=True)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
