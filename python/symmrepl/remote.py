"""Tensors in the memory of the ranks, as objects of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from . import _arguments as arguments

if TYPE_CHECKING:
    from .session import Session


class RemoteTensor:
    """A tensor of the session, of which each rank has its own: ``s["x"]``, or the result of an operation.

    Operations run on all ranks; their results are other such tensors, in memory of the ranks. Operands
    are these tensors and numbers. ``get`` fetches the elements. The variable of a result is used again
    when this object is gone.
    """

    __array_ufunc__ = None  # numpy leaves operators to this class

    def __init__(self, session: Session, expr: str, name: str = "", base: Optional[RemoteTensor] = None) -> None:
        self._session = session
        self.expr = expr
        """The expression of Go for the tensor; cells may use it while this object lives."""
        self._name = name  # the variable that belongs to this object
        self._base = base  # keeps the variable of a slice's tensor

    def __del__(self) -> None:
        if getattr(self, "_name", ""):
            self._session._unused.append(self._name)

    def get(self, rank: Optional[int] = None, *, to: Optional[str] = None, device: Optional[str] = None) -> Any:
        """Returns the elements on one rank, or of all ranks in one array whose first dimension is the rank, or views: see Session.get."""
        return self._session.get(self.expr, rank, to=to, device=device)

    @property
    def rank_values(self) -> Dict[int, Any]:
        """The elements on each rank, as lists of numbers. Their shapes may differ."""
        return self._session.rank_values(self.expr)

    def put(self, value: Any, *, by_rank: bool = False) -> None:
        """Copies an array into the tensor, the same on all ranks, or to each rank its part: see Session.put."""
        self._session.put(self.expr, value, by_rank=by_rank)

    @property
    def shape(self) -> Any:
        """The shape, as a tuple; a dict from ranks to tuples if it differs between ranks."""
        return alike({r: tuple(v[0]) for r, v in self._session.rank_values(f"[][]int{{append([]int{{}}, ({self.expr}).Shape()...)}}").items()})

    @property
    def dtype(self) -> Any:
        """The name of the element type, such as ``bf16``; a dict by rank if it differs between ranks."""
        return alike(self._session.rank_values(f"({self.expr}).DType().String()"))

    def __repr__(self) -> str:
        return f"<symmrepl.RemoteTensor {self.expr}>"

    def __getitem__(self, part: Any) -> RemoteTensor:
        """Returns a part of the first dimension, ``x[lo:hi]``, which shares memory."""
        if not isinstance(part, slice) or part.step is not None:
            raise TypeError(f"the index is of type {arguments.kind(part)}: a slice lo:hi is expected; get fetches elements")
        low = arguments.integer("the index", 0 if part.start is None else part.start, 0, (1 << 63) - 1)
        high = f"({self.expr}).Shape()[0]" if part.stop is None else str(arguments.integer("the index", part.stop, 0, (1 << 63) - 1))
        return RemoteTensor(self._session, f"({self.expr}).Slice({low}, {high})", base=self)

    __iter__ = None

    def __setitem__(self, part: slice, value: Any) -> None:
        self[part].put(value)

    # Arithmetic. The operators that Go's tensors define otherwise, such as %, are left out.

    def _with(self, method: str, other: Any, swapped: bool = False) -> Any:
        if isinstance(other, RemoteTensor):
            operand = self._session._operand("the operand", other)
        elif arguments.is_number(other):
            operand = arguments.go_number("the operand", other)
        elif method in ("Eq", "Ne"):
            return NotImplemented
        else:
            raise TypeError(
                f"the operand is of type {arguments.kind(other)}: a tensor of the session or a number is expected; put makes a tensor of an array"
            )
        x, y = (operand, self.expr) if swapped else (self.expr, operand)
        return self._session._result(method, f"symm.{method}({x}, {y})" if swapped else f"({x}).{method}({y})")

    def __add__(self, other: Any) -> Any:
        return self._with("Add", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("Add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("Sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._with("Mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("Mul", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("Div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("Div", other, True)

    def __pow__(self, other: Any) -> Any:
        return self._with("Pow", other)

    def __lt__(self, other: Any) -> Any:
        return self._with("Lt", other)

    def __le__(self, other: Any) -> Any:
        return self._with("Le", other)

    def __gt__(self, other: Any) -> Any:
        return self._with("Gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._with("Ge", other)

    def __eq__(self, other: Any) -> Any:
        return self._with("Eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._with("Ne", other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a RemoteTensor is neither true nor false: fetch the elements with get, or compare whole tensors with equal")

    def _alone(self, method: str) -> RemoteTensor:
        return self._session._result(method, f"({self.expr}).{method}()")

    def __neg__(self) -> RemoteTensor:
        return self._alone("Neg")

    def __abs__(self) -> RemoteTensor:
        return self._alone("Abs")

    def sum(self) -> RemoteTensor:
        """Returns the sum of the elements on each rank, a tensor without dimensions."""
        return self._alone("Sum")

    def mean(self) -> RemoteTensor:
        """Returns the mean of the elements on each rank."""
        return self._alone("Mean")

    def min(self) -> RemoteTensor:
        """Returns the smallest element on each rank."""
        return self._alone("Min")

    def max(self) -> RemoteTensor:
        """Returns the largest element on each rank."""
        return self._alone("Max")

    def equal(self, other: RemoteTensor) -> bool:
        """Reports whether two tensors have the same shape and elements, on every rank."""
        operand = self._session._operand("other", other)
        return all(self._session.rank_values(f"({self.expr}).Equal({operand})").values())


def alike(by_rank: Dict[int, Any]) -> Any:
    """Returns the value that all ranks have, or if the values differ, the values by rank."""
    values = list(by_rank.values())
    same = all(type(v) is type(values[0]) and repr(v) == repr(values[0]) for v in values)
    return values[0] if values and same else by_rank
