"""Collective operations on tensors of a session, under PyTorch's names."""

from __future__ import annotations

import secrets
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _arguments as arguments
from .errors import ArgumentError
from .remote import RemoteTensor
from .results import Result
from .tensors import Tensor

TensorLike = Union[RemoteTensor, str]
"""A tensor of the session, or an expression of Go for one."""

Ranks = Union[int, Sequence[int], None]
"""Ranks to run on: one, several, or None for all."""

REDUCTIONS = ("sum", "avg", "max", "min")

_INSTEAD = {
    "all_gather": "all_gather_into_tensor", "reduce_scatter": "reduce_scatter_tensor", "all_to_all": "all_to_all_single",
    "reduce": "all_reduce", "gather": "all_gather_into_tensor", "scatter": "put with by_rank=True",
    "send": "h.Put in a cell", "recv": "h.Get in a cell", "isend": "h.Put in a cell", "irecv": "h.Get in a cell",
}  # fmt: skip
"""Functions of torch.distributed that are missing here, and what to call instead."""


class Operations:
    """The operations of a session.

    Each runs on all ranks, or on the members of group that ranks names, and returns when they are
    done. group is an expression of Go for a group; without it the group is that of the tensor. Errors
    are those of cells: Deadlock or Mismatch if a rank does not make the call.
    """

    def __init__(self) -> None:
        self._prefix = f"py{secrets.token_hex(3)}_"
        self._names = 0
        self._unused: List[str] = []  # variables that no object of Python needs

    def all_reduce(self, tensor: TensorLike, op: str = "sum", group: Optional[str] = None, ranks: Ranks = None) -> RemoteTensor:
        """Combines the tensors of all ranks element by element, in place, by ``sum``, ``avg``, ``max`` or ``min``. Returns the tensor."""
        return self._in_place("all_reduce", "AllReduce", tensor, op, group, ranks)

    def two_shot_all_reduce_(self, tensor: TensorLike, op: str = "sum", group: Optional[str] = None, ranks: Ranks = None) -> RemoteTensor:
        """Is all_reduce in two shots."""
        return self._in_place("two_shot_all_reduce_", "TwoShotAllReduce", tensor, op, group, ranks)

    def one_shot_all_reduce(self, tensor: TensorLike, op: str = "sum", group: Optional[str] = None, ranks: Ranks = None) -> RemoteTensor:
        """Combines the tensors of all ranks in one shot, and returns the result as a new tensor."""
        chosen = self._ranks(ranks)
        t, how = self._operand("tensor", tensor, chosen), arguments.word_of("op", op, REDUCTIONS)
        return self._result("one_shot_all_reduce", f'symm.OneShotAllReduce({t}, "{how}"{self._group(group, chosen)})', chosen)

    def all_gather_into_tensor(
        self, output: Optional[TensorLike], input: TensorLike, group: Optional[str] = None, ranks: Ranks = None
    ) -> RemoteTensor:
        """Sets output to the tensors of all ranks one after the other, and returns output; if output is None, a new tensor."""
        return self._into("all_gather_into_tensor", "AllGather", output, input, "", group, ranks)

    def all_to_all_single(
        self, output: Optional[TensorLike], input: TensorLike, group: Optional[str] = None, ranks: Ranks = None
    ) -> RemoteTensor:
        """Sends to each rank its part of the first dimension of input. Returns as all_gather_into_tensor."""
        return self._into("all_to_all_single", "AllToAll", output, input, "", group, ranks)

    def reduce_scatter_tensor(
        self, output: Optional[TensorLike], input: TensorLike, op: str = "sum", group: Optional[str] = None, ranks: Ranks = None
    ) -> RemoteTensor:
        """Combines the tensors of all ranks and gives each rank its part of the first dimension. Returns as all_gather_into_tensor."""
        how = arguments.word_of("op", op, REDUCTIONS)
        return self._into("reduce_scatter_tensor", "ReduceScatter", output, input, f', "{how}"', group, ranks)

    def broadcast(self, tensor: TensorLike, src: int = 0, group: Optional[str] = None, ranks: Ranks = None) -> RemoteTensor:
        """Copies the tensor of the rank src, a rank of the group, to all ranks, in place. Returns the tensor."""
        chosen = self._ranks(ranks)
        t, root = self._operand("tensor", tensor, chosen), arguments.rank("src", src, self.size)
        return self._run_in_place("broadcast", f"symm.Broadcast({t}, {root}{self._group(group, chosen)})", t, tensor, chosen)

    def barrier(self, ranks: Ranks = None) -> None:
        """Returns when all earlier work of the ranks is done."""
        self._operate("barrier", "symm.Synchronize()", self._ranks(ranks))

    def rank_values(self, expr: str, ranks: Ranks = None) -> Dict[int, Any]:
        """Returns the value of an expression of Go by rank, as numbers, texts, lists and dicts. The elements of tensors become lists."""
        found = self.get_by_rank(expr, ranks, to="tensor")
        return {r: v.tolist() if isinstance(v, Tensor) else v for r, v in found.items()}

    # What a session has

    size: int

    def _ranks(self, ranks: Ranks) -> Optional[List[int]]:
        raise NotImplementedError

    def _type_of(self, argument: str, expr: str, ranks: Optional[List[int]]) -> str:
        raise NotImplementedError

    def _run(self, source: str, ranks: Ranks = None, *, name: str = "", silent: bool = False) -> Result:
        raise NotImplementedError

    def get_by_rank(self, expr: str, ranks: Ranks = None, *, to: Optional[str] = None) -> Any:
        raise NotImplementedError

    # How they run

    def __getattr__(self, name: str) -> Any:
        instead = f": use {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"{type(self).__name__} has no attribute {name}{instead}")

    def _in_place(self, name: str, function: str, tensor: TensorLike, op: str, group: Optional[str], ranks: Ranks) -> RemoteTensor:
        chosen = self._ranks(ranks)
        t, how = self._operand("tensor", tensor, chosen), arguments.word_of("op", op, REDUCTIONS)
        return self._run_in_place(name, f'symm.{function}({t}, "{how}"{self._group(group, chosen)})', t, tensor, chosen)

    def _run_in_place(self, name: str, call: str, expr: str, tensor: TensorLike, ranks: Optional[List[int]]) -> RemoteTensor:
        self._operate(name, f"_ = {call}", ranks)
        return tensor if isinstance(tensor, RemoteTensor) else RemoteTensor(self, expr)  # type: ignore[arg-type]

    def _into(
        self, name: str, function: str, output: Optional[TensorLike], input: TensorLike, op: str, group: Optional[str], ranks: Ranks
    ) -> RemoteTensor:
        chosen = self._ranks(ranks)
        t, member = self._operand("input", input, chosen), self._group(group, chosen)
        if output is None:
            return self._result(name, f"symm.{function}({t}{op}{member})", chosen)
        out = self._operand("output", output, chosen)
        self._operate(name, f"symm.{function}Out({t}{op}, {out}{member})", chosen)
        return output if isinstance(output, RemoteTensor) else RemoteTensor(self, out)  # type: ignore[arg-type]

    def _operand(self, argument: str, tensor: Any, ranks: Optional[List[int]] = None) -> str:
        """Checks a tensor, and returns the expression for it."""
        if isinstance(tensor, RemoteTensor):
            if tensor._session is not self:
                raise ArgumentError(f"{argument} is a tensor of another session: get its elements, and put them")
            return tensor.expr
        if not isinstance(tensor, str):
            raise TypeError(
                f"{argument} is of type {arguments.kind(tensor)}: a tensor of the session is expected, such as s[\"x\"]; put makes one of an array"
            )
        found = self._type_of(argument, arguments.text(argument, tensor), ranks)
        if found != "*symm.Tensor":
            raise ArgumentError(f"{argument}: {tensor} is of type {found}: a tensor is expected")
        return f"({tensor})"

    def _group(self, group: Optional[str], ranks: Optional[List[int]]) -> str:
        """Checks a group, and returns it as a further argument."""
        if group is None:
            return ""
        found = self._type_of("group", arguments.text("group", group), ranks)
        if found != "*symm.Group":
            raise ArgumentError(f"group: {group} is of type {found}: a group is expected, such as symm.World()")
        return f", ({group})"

    def _operate(self, name: str, source: str, ranks: Optional[List[int]]) -> None:
        self._run(source, ranks, name=name, silent=True)

    def _result(self, name: str, expr: str, ranks: Optional[List[int]] = None) -> RemoteTensor:
        """Runs an operation and returns its result, in a variable that no other object has."""
        try:
            variable = self._unused.pop()
        except IndexError:
            self._names += 1
            variable = f"{self._prefix}{self._names}"
        result = RemoteTensor(self, variable, variable)  # type: ignore[arg-type]
        self._operate(name, f"{variable} := {expr}", ranks)
        return result
