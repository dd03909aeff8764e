"""Products of matrices whose rows are gathered from all ranks, or whose sums are scattered. ATen multiplies."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import torch
import torch.distributed._symmetric_memory as symm_mem

from ..errors import Misuse
from .call import Call, brief, row
from .gather import from_all, gather, source


def _matrix(c: Call, name: str, tensor: torch.Tensor, least: int = 2) -> None:
    if tensor.dim() < least or (name.startswith("B") and tensor.dim() != 2):
        raise c.refuse(f"{name} is {brief(tensor)}: it must be a matrix")


def _dense(t: torch.Tensor) -> torch.Tensor:
    """Returns a contiguous copy, whose dimensions of one element have the usual strides, too."""
    return t.clone(memory_format=torch.contiguous_format)


def _gathered(
    c: Call, A: torch.Tensor, Bs: Sequence[torch.Tensor], gather_dim: int, scale: Optional[torch.Tensor]
) -> Tuple[int, List[torch.Tensor]]:
    """Returns a dimension, and A of all ranks joined along it, which is the first one of the result. So are scales of this rank's rows."""
    _matrix(c, "A", A)
    dim = gather_dim + A.dim() if gather_dim < 0 else gather_dim
    if not 0 <= dim < A.dim():
        raise c.refuse(f"gather_dim is {gather_dim}: A has {A.dim()} dimensions")
    inner = A.shape[-1] * (c.group.size if dim == A.dim() - 1 else 1)
    for i, B in enumerate(Bs):
        _matrix(c, f"Bs[{i}]", B)
        if B.shape[0] != inner:
            raise c.refuse(f"Bs[{i}] is {brief(B)}: it must have {inner} rows")
    c.words["gather_dim"] = str(dim)
    fronts = [t.movedim(dim, 0).contiguous() for t in (A, scale) if t is not None]
    c.words["A"] = brief(A)
    if scale is not None:
        c.words["A_scale"] = brief(scale)
    c.agree("exchange")
    joined = []
    for t in fronts:
        out = t.new_empty((c.group.size * t.shape[0], *t.shape[1:]))
        gather(c, t, None, out)
        joined.append(out)
    return dim, joined


@row("exchange, and ATen multiplies")
def fused_all_gather_matmul(
    A: torch.Tensor, Bs: List[torch.Tensor], gather_dim: int, group_name: str, *, return_A: bool = True
) -> Tuple[Optional[torch.Tensor], List[torch.Tensor]]:
    c = Call("fused_all_gather_matmul", group_name)
    dim, (whole,) = _gathered(c, A, Bs, gather_dim, None)
    if dim == A.dim() - 1:
        whole, dim = _dense(whole.movedim(0, dim)), 0
    # The strides are those that PyTorch's own function gives, which code made by a compiler relies on.
    return whole.movedim(0, dim) if return_A else None, [torch.matmul(whole, B).movedim(0, dim) for B in Bs]


def _dtype(value: Any) -> Optional[torch.dtype]:
    """Returns an element of a list of types, which the dispatcher passes as numbers."""
    return symm_mem._maybe_convert_scalar_types_to_dtypes([value])[0] if value is not None else None


def _scaled(
    A: torch.Tensor, B: torch.Tensor, scale: torch.Tensor, scale_b: torch.Tensor, bias: Any, result_scale: Any, dtype: Any, fast: bool
) -> torch.Tensor:
    flat = A.flatten(0, -2).contiguous()
    try:
        product = torch._scaled_mm(flat, B, scale, scale_b, bias, result_scale, dtype, fast)
    except RuntimeError:
        if scale.numel() == scale_b.numel() == 1 or bias is not None or result_scale is not None:
            raise
        product = (flat.float() * scale) @ (B.float() * scale_b)  # ATen of 2.11 has one scale of a matrix alone
        product = product.to(dtype or A.dtype)
    return product.unflatten(0, A.shape[:-1])


@row("exchange, and ATen multiplies")
def fused_all_gather_scaled_matmul(
    A: torch.Tensor,
    Bs: List[torch.Tensor],
    A_scale: torch.Tensor,
    B_scales: List[torch.Tensor],
    gather_dim: int,
    group_name: str,
    biases: List[Optional[torch.Tensor]],
    result_scales: List[Optional[torch.Tensor]],
    out_dtypes: List[Any],
    use_fast_accum: List[bool],
) -> Tuple[torch.Tensor, List[torch.Tensor]]:
    c = Call("fused_all_gather_scaled_matmul", group_name)
    for values, name in (
        (B_scales, "B_scales"), (biases, "biases"), (result_scales, "result_scales"), (out_dtypes, "out_dtypes"),
        (use_fast_accum, "use_fast_accum"),
    ):  # fmt: skip
        if len(values) != len(Bs):
            raise c.refuse(f"{name} has {len(values)} entries, and Bs {len(Bs)}")
    full = list(A.shape[:-1])
    if 0 <= gather_dim < len(full):
        full[gather_dim] *= c.group.size
    else:
        raise c.refuse(f"gather_dim is {gather_dim}: it must be a dimension of A, {list(A.shape)}, and not the last")
    sharded = A_scale.shape[:-1] == A.shape[:-1] and A_scale.dim() > 0 and A_scale.shape[-1] == 1
    if not sharded and A_scale.numel() != 1 and list(A_scale.shape[:-1]) != full:
        raise c.refuse(f"A_scale is {brief(A_scale)}: it must have one number, or one for each row of A or of all ranks' A")
    dim, (whole, *scales) = _gathered(c, A, Bs, gather_dim, A_scale if sharded else None)
    scale = scales[0] if sharded else A_scale
    if scale.numel() > 1:
        scale = (scale if sharded else scale.movedim(dim, 0)).flatten(0, -2).contiguous()
    products = [
        _scaled(whole, B, scale, s, bias, result, _dtype(d), fast).movedim(0, dim)
        for B, s, bias, result, d, fast in zip(Bs, B_scales, biases, result_scales, out_dtypes, use_fast_accum)
    ]
    return whole.movedim(0, dim), products


def _sum(c: Call, product: torch.Tensor, reduce_op: str, dim: int) -> torch.Tensor:
    """Returns this rank's part along a dimension of the sum of the ranks' products. The ranks have agreed."""
    front = product.movedim(dim, 0).contiguous()
    at, n = from_all(c, front, None), front.numel() // c.group.size
    out = front.new_empty((front.shape[0] // c.group.size, *front.shape[1:]))
    if n:
        c.pull(1 if reduce_op == "avg" else 0, [a + c.group.rank * n * front.element_size() for a in at], [out.data_ptr()], n, front.dtype)
    return _dense(out.movedim(0, dim))


@row("pull_reduce, and ATen multiplies")
def fused_matmul_reduce_scatter(A: torch.Tensor, B: torch.Tensor, reduce_op: str, scatter_dim: int, group_name: str) -> torch.Tensor:
    c = Call("fused_matmul_reduce_scatter", group_name)
    _matrix(c, "A", A)
    _matrix(c, "B", B)
    if A.shape[-1] != B.shape[0]:
        raise c.refuse(f"A is {brief(A)} and B is {brief(B)}: they have no product")
    c.reduction(reduce_op, ("sum", "avg"))
    shape = [*A.shape[:-1], B.shape[1]]
    if not 0 <= scatter_dim < len(shape) or shape[scatter_dim] % c.group.size:
        raise c.refuse(f"scatter_dim is {scatter_dim}: it must be a dimension of {shape} that the {c.group.size} ranks divide")
    c.words.update(product=f"{A.dtype}{shape}", scatter_dim=str(scatter_dim))
    c.agree(f"pull_reduce_{c.suffix(A.dtype)}")
    return _sum(c, torch.matmul(A, B), reduce_op, scatter_dim)


@row("pull_reduce, and ATen multiplies")
def fused_scaled_matmul_reduce_scatter(
    A: torch.Tensor,
    B: torch.Tensor,
    A_scale: torch.Tensor,
    B_scale: torch.Tensor,
    reduce_op: str,
    orig_scatter_dim: int,
    scatter_dim_after_maybe_reshape: int,
    group_name: str,
    output_shape: Optional[List[int]],
    bias: Optional[torch.Tensor] = None,
    result_scale: Optional[torch.Tensor] = None,
    out_dtype: Any = None,
    use_fast_accum: bool = False,
) -> torch.Tensor:
    c = Call("fused_scaled_matmul_reduce_scatter", group_name)
    _matrix(c, "A", A)
    _matrix(c, "B", B)
    c.reduction(reduce_op, ("sum", "avg"))
    shape = [*(output_shape if output_shape is not None else A.shape)[:-1], B.shape[1]]
    if not 0 <= orig_scatter_dim < len(shape) or shape[orig_scatter_dim] % c.group.size:
        raise c.refuse(f"orig_scatter_dim is {orig_scatter_dim}: it must be a dimension of {shape} that the {c.group.size} ranks divide")
    if A_scale.numel() > 1 and A_scale.shape[:-1] != A.shape[:-1]:
        raise c.refuse(f"A_scale is {brief(A_scale)}: it must be one number, or have one for each row of A, {list(A.shape)}")
    scale = A_scale.flatten(0, -2).contiguous() if A_scale.numel() > 1 else A_scale
    product = _scaled(A, B, scale, B_scale, bias, result_scale, _dtype(out_dtype), use_fast_accum).reshape(shape)
    c.words.update(product=brief(product), scatter_dim=str(orig_scatter_dim))
    c.agree(f"pull_reduce_{c.suffix(product.dtype)}")
    return _sum(c, product, reduce_op, orig_scatter_dim)


@row("pull_reduce")
def _low_contention_reduce_scatter(tensor: torch.Tensor, reduce_op: str, group_name: str) -> torch.Tensor:
    c = Call("_low_contention_reduce_scatter", group_name)
    code = c.reduction(reduce_op, ("sum", "avg"))
    if not tensor.dim() or tensor.shape[0] % c.group.size:
        raise c.refuse(f"the first dimension of tensor, {list(tensor.shape)}, is not divisible by the {c.group.size} ranks")
    place = source(c, "tensor", tensor)
    c.agree(f"pull_reduce_{c.suffix(tensor.dtype)}")
    at, n = from_all(c, tensor, place), tensor.numel() // c.group.size
    out = torch.empty((tensor.shape[0] // c.group.size, *tensor.shape[1:]), dtype=tensor.dtype)
    if n:
        c.pull(code, [a + c.group.rank * n * tensor.element_size() for a in at], [out.data_ptr()], n, tensor.dtype)
    return out


@row("none: ATen multiplies")
def _async_input_mm(a: torch.Tensor, b: torch.Tensor, a_chunk_signals: torch.Tensor, a_chunk_pivot: int) -> torch.Tensor:
    """Multiplies a, whose chunks of rows have come where their signals are not 0. On the CPU nothing brings them meanwhile."""
    op, chunks = "_async_input_mm", a_chunk_signals.numel()
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise Misuse(None, op, f"a is {brief(a)} and b is {brief(b)}: they have no product")
    if a_chunk_signals.dtype != torch.uint32 or a_chunk_signals.dim() != 1 or not chunks or a.shape[0] % chunks:
        raise Misuse(None, op, f"a_chunk_signals is {brief(a_chunk_signals)}: it must be uint32[n], n a divisor of the {a.shape[0]} rows")
    if not 0 <= a_chunk_pivot < chunks:
        raise Misuse(None, op, f"a_chunk_pivot is {a_chunk_pivot}: it must be in [0, {chunks})")
    missing = [i for i, word in enumerate(a_chunk_signals.tolist()) if not word]
    if missing:
        raise Misuse(None, op, f"chunks {missing} have no signal, and nothing brings chunks while this operator runs")
    return torch.mm(a, b)
