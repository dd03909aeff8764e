"""Compiles three Triton kernels for a GPU, which this machine need not have: python3 triton_kernels.py FOLDER [ARCH]

ARCH is 90 for sm_90. The folder gets NAME.cubin and NAME.json of each, and NAME.ptx.
"""
import json
import os
import pathlib
import sys

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # which has the paths of this machine

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_scaled(x, y, n, a, BLOCK: tl.constexpr):
    """x += a * y"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(x + i, tl.load(x + i, mask=inside) + a * tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def row_sums(x, out, n, BLOCK: tl.constexpr):
    """out[r] is the sum of row r of n elements. It needs shared memory."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(row, 0))


@triton.jit
def one_shot(buffers, out, n, ranks, BLOCK: tl.constexpr):
    """out is the sum of the buffers of all ranks; buffers is a table of their addresses."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for r in range(ranks):
        peer = tl.load(buffers + r).to(tl.pointer_type(tl.float32))
        total += tl.load(peer + i, mask=i < n, other=0.0)
    tl.store(out + i, total, mask=i < n)


def build(folder, arch, kernel, types, **options):
    """types has a type for each parameter, and a number for each constexpr."""
    signature = {name: t if isinstance(t, str) else "constexpr" for name, t in types.items()}
    constants = {name: t for name, t in types.items() if not isinstance(t, str)}
    made = triton.compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", arch, 32), options=options)
    name = made.metadata.name
    (folder / f"{name}.cubin").write_bytes(made.asm["cubin"])
    (folder / f"{name}.ptx").write_text(made.asm["ptx"])
    metadata = made.metadata._asdict()
    metadata["target"] = metadata["target"].__dict__
    metadata.pop("extern_libs", None)  # which has paths of this machine
    (folder / f"{name}.json").write_text(json.dumps(metadata, indent=1) + "\n")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    arch = int(sys.argv[2]) if len(sys.argv) > 2 else 90
    build(folder, arch, add_scaled, {"x": "*fp32", "y": "*fp32", "n": "i64", "a": "fp32", "BLOCK": 256}, num_warps=4)
    build(folder, arch, row_sums, {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": 1024}, num_warps=4)
    build(folder, arch, one_shot, {"buffers": "*i64", "out": "*fp32", "n": "i32", "ranks": "i32", "BLOCK": 256}, num_warps=8)
