"""Runs the host part of an exported module with the stubs of this folder and prints a line of JSON for each launch: the kernel, its
grid and block, and the bytes of its arguments.

    python host_part.py FOLDER MODULE [--test]
"""

import ctypes
import importlib
import sys

folder, name = sys.argv[1:3]
sys.argv = [name, *sys.argv[3:]]
sys.path.insert(0, folder)

import symm_torch as symm  # noqa: E402
from cuda.bindings import driver  # noqa: E402


def size(param):
    if param == "symm::Handle":
        return ctypes.sizeof(symm.HandleStruct)
    if param.endswith("*"):
        return 8
    return ctypes.sizeof(symm.NUMBERS.get(param, ctypes.c_uint16))


def launch(kernel, *args, **options):
    driver.launching = kernel.name, [size(p) for p in kernel.params]
    unlogged(kernel, *args, **options)


unlogged = symm.Kernel.launch
symm.Kernel.launch = launch
symm.main(importlib.import_module(name).run)
