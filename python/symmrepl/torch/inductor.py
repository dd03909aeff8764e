"""Lets Inductor put what operators of torch.ops.symm_mem take into symmetric memory of the CPU, as it does for GPUs."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from types import ModuleType
from typing import Any

import torch

_MODULE = "torch._inductor.codegen.wrapper"


def install() -> None:
    """Changes Inductor's module when it is imported, which takes seconds and most programs never do."""
    if _MODULE in sys.modules:
        _change(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _change(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class _OnFirst:
    """A buffer of the CPU, which Inductor takes if it is on a device with an index."""

    def __init__(self, node: Any) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def get_device(self) -> torch.device:
        return torch.device("cpu", 0)


class _Lines:
    """Writes a line of a program. Inductor of 2.11 says "cuda" whatever the device."""

    def __init__(self, code: Any) -> None:
        self._code = code

    def writeline(self, line: str) -> None:
        self._code.writeline(line.replace('torch.device("cuda:0")', 'torch.device("cpu:0")'))


def _change(module: ModuleType) -> None:
    line = getattr(module, "AllocateLine", None)
    theirs = getattr(line, "_codegen_comm_buffer", None)
    if theirs is None:
        return  # this version has no such buffers

    def _codegen_comm_buffer(self: Any, code: Any) -> None:
        node = self.node
        if node.get_device() != torch.device("cpu"):
            return theirs(self, code)
        self.node = _OnFirst(node)
        try:
            theirs(self, _Lines(code))
        finally:
            self.node = node

    line._codegen_comm_buffer = _codegen_comm_buffer  # type: ignore[union-attr]
    _keep_apart(module)


def _keep_apart(module: ModuleType) -> None:
    """Lets no kernel write a buffer in symmetric memory over its operand, or the other way round.

    Inductor of 2.11 assumes there that one takes the place of the other, and allocates it: the operand is lost.
    """
    code, layout = module.PythonWrapperCodegen, module.ir.CommBufferLayout
    theirs = code.can_reuse

    def can_reuse(self: Any, input_buffer: Any, output_buffer: Any = None) -> bool:
        if output_buffer is not None and output_buffer.get_device() == torch.device("cpu"):
            buffers = (input_buffer, *output_buffer.get_outputs())
            if any(b.node is not None and isinstance(b.node.get_output_spec(), layout) for b in buffers):
                return False
        return bool(theirs(self, input_buffer, output_buffer))

    code.can_reuse = can_reuse
