"""Reductions of tiles, each to a rank of its own."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence

import torch

from ..groups import device
from .call import Call, brief, row

_TILES = 16  # of a rank, at most


class _Tile(NamedTuple):
    """A tile that this rank reduces: rows of elements, pitch elements apart, from a byte of input on, into out."""

    start: int
    rows: int
    columns: int
    pitch: int
    out: torch.Tensor
    out_pitch: int


def _reduce(c: Call, code: int, inputs: List[int], dtype: torch.dtype, tiles: Sequence[_Tile], nbytes: int) -> None:
    """Reduces tiles of tensors that begin at inputs. nbytes is the work of a rank, about the same on all."""
    d = device()
    packed = b"".join(
        d.pack(
            "Tile", **{"from": t.start // dtype.itemsize}, out=t.out.data_ptr(), rows=t.rows, cols=t.columns, in_pitch=t.pitch,
            out_pitch=t.out_pitch,
        )
        for t in tiles
    )  # fmt: skip
    c.launch("TileReduceArgs", nbytes, op=code, tiles=len(tiles), tile=packed, **{"in": inputs})


def _rectangle(c: Call, name: str, tile: torch.Tensor) -> int:
    """Checks a tile, and returns its pitch."""
    if tile.dim() != 2 or (tile.shape[1] > 1 and tile.stride(1) != 1) or (tile.shape[0] > 1 and tile.stride(0) < tile.shape[1]):
        raise c.refuse(f"{name} is {brief(tile)} with strides {list(tile.stride())}: it must be rows of contiguous elements")
    return max(tile.stride(0), tile.shape[1])


def _suffix(c: Call, dtype: torch.dtype) -> str:
    if dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        raise c.refuse(f"tiles of {dtype} cannot be reduced")
    return c.suffix(dtype)


def _roots(c: Call, in_tiles: Sequence[torch.Tensor], out_tile: torch.Tensor, roots: Sequence[int], reduce_op: str) -> None:
    code = c.reduction(reduce_op)
    if not in_tiles or len(in_tiles) != len(roots):
        raise c.refuse(f"there are {len(in_tiles)} tiles and {len(roots)} roots: there must be a root for each tile, and one at least")
    own: Optional[int] = None
    places = []
    for i, (tile, root) in enumerate(zip(in_tiles, roots)):
        name = "in_tile" if len(in_tiles) == 1 else f"tile {i}"
        c.member("a root", root)
        if root in roots[:i]:
            raise c.refuse(f"rank {root} is the root of two tiles")
        _rectangle(c, name, tile)
        if tile.shape != in_tiles[0].shape or tile.dtype != in_tiles[0].dtype or tile.stride(0) != in_tiles[0].stride(0):
            raise c.refuse(f"{name} is {brief(tile)}, tile 0 is {brief(in_tiles[0])}: all must have the same type, shape and strides")
        places.append(c.place(name, tile))
        if root == c.group.rank:
            own = i
    c.words["strides"], c.words["roots"] = str(list(in_tiles[0].stride())), str(list(roots))
    tiles, k = [], own or 0
    tile = in_tiles[k]
    if own is not None:
        out_pitch = _rectangle(c, "out_tile", out_tile)
        if out_tile.shape != tile.shape or out_tile.dtype != tile.dtype:
            raise c.refuse(f"out_tile is {brief(out_tile)}: it must be {brief(tile)}")
        c.apart("out_tile", out_tile, "in_tile", tile)
        tiles = [_Tile(0, tile.shape[0], tile.shape[1], _rectangle(c, "in_tile", tile), out_tile, out_pitch)]
    c.agree(f"tile_reduce_{_suffix(c, tile.dtype)}")
    inputs = [c.addresses(t, p) for t, p in zip(in_tiles, places)]
    if tile.numel():
        _reduce(c, code, inputs[k], tile.dtype, tiles, tile.numel() * tile.element_size())


@row("tile_reduce")
def tile_reduce(in_tile: torch.Tensor, out_tile: torch.Tensor, root: int, group_name: str, reduce_op: str = "sum") -> None:
    _roots(Call("tile_reduce", group_name), [in_tile], out_tile, [root], reduce_op)


@row("tile_reduce")
def multi_root_tile_reduce(
    in_tiles: List[torch.Tensor], out_tile: torch.Tensor, roots: List[int], group_name: str, reduce_op: str = "sum"
) -> None:
    _roots(Call("multi_root_tile_reduce", group_name), in_tiles, out_tile, roots, reduce_op)


@row("tile_reduce")
def nccl_reduce_scatter_offset(
    input: torch.Tensor,
    out: List[torch.Tensor],
    group_name: str,
    dim: int,
    offsets: Optional[List[int]] = None,
    dst_ranks: Optional[List[int]] = None,
    red_op: str = "sum",
) -> None:
    c = Call("nccl_reduce_scatter_offset", group_name)
    code, world = c.reduction(red_op), c.group.size
    place = c.place("input", input)
    pitch = _rectangle(c, "input", input)
    if dim not in (0, 1):
        raise c.refuse(f"dim is {dim}: it must be 0 or 1")
    length = input.shape[dim]
    if offsets is None:
        if length % world:
            raise c.refuse(f"dimension {dim} of input, {list(input.shape)}, is not divisible by the {world} ranks")
        offsets = [(i + 1) * length // world for i in range(world)]
    if dst_ranks is None:
        dst_ranks = [i % world for i in range(len(offsets))]
    if len(dst_ranks) != len(offsets):
        raise c.refuse(f"there must be a rank for each block, not {len(dst_ranks)} for {len(offsets)} blocks")
    c.words.update(strides=str(list(input.stride())), dim=str(dim), offsets=str(offsets), dst_ranks=str(dst_ranks))
    tiles: List[_Tile] = []
    low, owned = 0, 0
    for i, (high, root) in enumerate(zip(offsets, dst_ranks)):
        if not low <= high <= length:
            raise c.refuse(f"offset {i} is {high}: offsets must not decrease and be in [0, {length}]")
        c.member("a rank of dst_ranks", root)
        shape = (input.shape[0], high - low) if dim else (high - low, input.shape[1])
        if root == c.group.rank:
            if owned < len(out):
                c.like(f"out[{owned}]", out[owned], shape, input.dtype)
                c.apart(f"out[{owned}]", out[owned], "input", input)
                start = (low if dim else low * pitch) * input.element_size()
                if shape[0] * shape[1]:
                    tiles.append(_Tile(start, *shape, pitch, out[owned], shape[1]))
            owned += 1
        low = high
    if owned != len(out) or owned > _TILES:
        raise c.refuse(f"out has {len(out)} tensors: it must have {owned}, one for each block of rank {c.group.rank}, at most {_TILES}")
    c.agree(f"tile_reduce_{_suffix(c, input.dtype)}")
    at = c.addresses(input, place)
    if input.numel():
        _reduce(c, code, at, input.dtype, tiles, input.numel() * input.element_size() // world)
