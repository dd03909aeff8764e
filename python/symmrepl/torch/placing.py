"""Functions that torch.compile compiles, under the sanitizer: they run operator by operator, so that `touched` sees each access.

Inductor fuses operators into code whose accesses nobody sees. In its place graphs are run as torch.compile has traced them.
Inductor also places in symmetric memory what some operators take: operands of torch.ops.symm_mem, and those that a library
has named by `register_symm_mem_args`. Here they are copied into symmetric memory for the call.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, NamedTuple, Set, Tuple

import torch
import torch.fx
from torch.utils._pytree import tree_map_only

from ..emulator.lines import call_at
from . import memory

OPERANDS: Dict[str, Tuple[str, ...]] = {
    **dict.fromkeys(("one_shot_all_reduce", "one_shot_all_reduce_out", "two_shot_all_reduce_", "two_shot_all_reduce_out"), ("input",)),
    **dict.fromkeys(("one_shot_all_reduce_copy", "one_shot_all_reduce_copy_out"), ("symm_buffer",)),
    **dict.fromkeys(("multimem_all_reduce_", "multimem_one_shot_all_reduce", "multimem_one_shot_all_reduce_out"), ("input",)),
    **dict.fromkeys(("multimem_one_shot_reduce_out", "multimem_all_gather_out", "reduce_scatter_out"), ("input",)),
    **dict.fromkeys(("all_to_all_vdev", "all_to_all_vdev_2d", "all_to_all_vdev_2d_offset"), ("input", "out")),
    "tile_reduce": ("in_tile", "out_tile"),
    "multi_root_tile_reduce": ("in_tiles", "out_tile"),
    "_low_contention_all_gather_ce_multicast_out": ("out",),
}
"""The arguments that Inductor places, of PyTorch's own operators."""

_in = threading.local()  # inputs: the addresses of the inputs of the graphs that run in a thread, innermost last


def _inputs() -> List[Set[int]]:
    if not hasattr(_in, "inputs"):
        _in.inputs = []
    return _in.inputs  # type: ignore[no-any-return]


def install() -> None:
    """Takes the place of Inductor, unless a graph has tensors of GPUs."""
    inductor = torch._TorchCompileInductorWrapper
    theirs = inductor.__call__

    def compiled(self: Any, model: Any, inputs: Any, **more: Any) -> Any:
        if type(self) is not inductor or any(isinstance(t, torch.Tensor) and t.device.type != "cpu" for t in inputs):
            return theirs(self, model, inputs, **more)
        from torch._dynamo.backends.common import aot_autograd

        return aot_autograd(fw_compiler=_runner, bw_compiler=_runner, keep_inference_input_mutations=True)(model, inputs)

    inductor.__call__ = compiled


def _runner(graph: Any, inputs: Any) -> Callable[..., Any]:
    """Returns a function that runs a graph."""

    def run(args: Any) -> Any:
        _inputs().append({_storage(t) for t in args if isinstance(t, torch.Tensor)})
        try:
            interpreter = _Lines(graph)
            interpreter.extra_traceback = False
            return interpreter.boxed_run(args)
        finally:
            _inputs().pop()

    run._boxed_call = True  # type: ignore[attr-defined]  # it takes a list, and may empty it
    return run


class _Lines(torch.fx.Interpreter):
    """Runs each operator of a graph at the line of the program that it comes from."""

    def run_node(self, n: Any) -> Any:
        return call_at(n.stack_trace or "", super().run_node, n)


class _Move(NamedTuple):
    """An operand, its copy in symmetric memory, and whether the operator writes it."""

    operand: torch.Tensor
    copy: torch.Tensor
    written: bool


class Placed(NamedTuple):
    """A call of an operator with operands in symmetric memory."""

    args: Any
    kwargs: Any
    moves: List[_Move]

    def returned(self, out: Any) -> Any:
        """Returns the results of the call after it: what it has written is in the operands."""
        for m in self.moves:
            if m.written:
                m.operand.copy_(m.copy)
        operands = {id(m.copy): m.operand for m in self.moves}
        return tree_map_only(torch.Tensor, lambda t: operands.get(id(t), t), out)


def running() -> bool:
    """Reports whether a compiled function runs in this thread."""
    return bool(_inputs())


def place(func: Any, args: Any, kwargs: Any) -> Placed:
    """Returns a call within a compiled function, with copies of what Inductor would place."""
    own, named = OPERANDS.get(func._opname, ()) if func.namespace == "symm_mem" else (), _registered(func)
    schema = func._schema.arguments
    given = dict(zip((a.name for a in schema), args))
    given.update(kwargs)
    group = given.get("group_name")
    moves: List[_Move] = []
    if not own and not named or not isinstance(group, str):
        return Placed(args, kwargs, moves)

    def moved(t: torch.Tensor, is_own: bool, written: bool) -> torch.Tensor:
        inputs = _inputs()[-1]
        if t.device.type != "cpu" or memory.find(t) is not None or not is_own and _storage(t) in inputs:
            return t  # of a library's operators Inductor does not place what the function is called with
        copy = memory.empty_strided(t.shape, torch.empty(t.shape, device="meta").stride(), t.dtype)
        a = memory.find(copy)
        assert a is not None
        a.group = group
        moves.append(_Move(t, copy.copy_(t), written))
        return copy

    for a in schema:
        if a.name in given and (a.name in own or a.name in named):
            is_own, written = a.name in own, any(alias.is_write for alias in [a.alias_info] if alias is not None)
            given[a.name] = tree_map_only(torch.Tensor, lambda t: moved(t, is_own, written), given[a.name])
    names = [a.name for a in schema[: len(args)]]
    return Placed([given[n] for n in names], {n: given[n] for n in kwargs}, moves)


def _registered(func: Any) -> Tuple[str, ...]:
    """Returns the arguments that a library has named; before PyTorch 2.13 it cannot."""
    from torch._library.simple_registry import singleton

    if not hasattr(torch.library.Library, "register_symm_mem_args"):
        return ()
    found = getattr(singleton.get(func.__qualname__), "symm_mem_args", None)
    return tuple((found.get() if found is not None else None) or ())


def _storage(t: torch.Tensor) -> int:
    return t.untyped_storage().data_ptr() if t.layout is torch.strided else 0
