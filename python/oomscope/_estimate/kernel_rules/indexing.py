"""Selecting and writing by indexes and masks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written
from .cub import scan_bytes, select_bytes, sort_bytes, total_bytes
from .gradients import node_name
from .reductions import meet

INDEXING = "aten/src/ATen/native/cuda/Indexing.cu; recorded with torch 2.15, 2.9, 2.4"
MASKS = "masked_scatter__cuda, masked_select, _index_put_impl_, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"
NONZERO = "nonzero_cuda_out_impl, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"

INDEX = 8

MASK_TYPES = (torch.bool, torch.uint8)


@rule("_index_put_impl_", "index_put_", "index_put", source=INDEXING, case="index")
def _index_put(call: Call) -> None:
    """What is added up is sorted by where it goes."""
    call.born()
    indexes = [one for one in call.args[1] if one is not None]
    if not call.arg(3, "accumulate", False) or not indexes:
        return
    count = torch.broadcast_shapes(*(one.size() for one in indexes)).numel()
    if not count:
        return
    many = count * INDEX
    is_checked = not call.arg(4, "unsafe", False)
    linear = None
    for index in indexes:
        if is_checked:
            _check(call, index, count)
        wrapped, scaled = call.take(many), call.take(many)
        call.give(wrapped)
        if linear is None:
            linear = scaled
        else:
            call.give(scaled)
    ordered, origins, every = call.take(many), call.take(many), call.take(many)
    last = max(at for at, one in enumerate(call.args[1]) if one is not None)
    rows = call.args[0].size()[: last + 1].numel()
    call.pass_by(sort_bytes(call.kernels, count, INDEX, INDEX, max(1, (rows - 1).bit_length())))
    call.give(every, origins, ordered, linear)


def _check(call: Call, index: Any, count: int) -> None:
    """Whether all indexes are within limits: the smallest and the largest, and what they are compared with. Indexes that are spread out are
    copied for that.
    """
    width = index.element_size()
    spread = 0 if index.numel() == count and index.is_contiguous() else count * width
    flat = torch.empty((count,), dtype=index.dtype, device="meta")
    is_new = (2, 10) <= call.kernels.version
    ends = [call.take(width) for _ in range(2 if is_new else 1)]
    for number in range(1 if is_new else 2):
        if number:
            ends = [call.take(width)]
        copy = call.take(spread)
        meet(call, flat, None, len(ends) * width, width)
        call.give(copy)
        call.each((1,) * len(ends))
        call.give(*ends)


@rule("nonzero", source=NONZERO, case="nonzero")
def _nonzero(call: Call) -> None:
    """They are counted, and then picked out."""
    tensor = call.args[0]
    count = tensor.numel()
    if not count:
        return
    copy = None if tensor.is_contiguous() else call.take(bytes_of(tensor))
    number = call.take(4)
    total = call.take(total_bytes(call.kernels, count))
    is_old = call.kernels.version < (2, 6)
    if not is_old:
        call.give(total)
    call.born()
    call.pass_by(select_bytes(call.kernels, count))
    call.give(total if is_old else None, number, copy)


def _has_mask(indexes: Iterable[Any]) -> bool:
    return any(one is not None and one.dtype in MASK_TYPES for one in indexes)


def _placed(indexes: Iterable[Any]) -> list[Any]:
    """Masks as the places that they select."""
    placed: list[Any] = []
    for one in indexes:
        if one is not None and one.dtype in MASK_TYPES:
            placed += one.nonzero().unbind(1)
        else:
            placed.append(one)
    return placed


@written("index", source=MASKS, case="get-mask")
def _index(tensor: Any, indexes: Any) -> Any:
    return torch.ops.aten.index(tensor, _placed(indexes)) if _has_mask(indexes) else NotImplemented


@written("masked_select", source=MASKS, case="masked_select")
def _masked_select(tensor: Any, mask: Any) -> Any:
    if mask.dim() == 0 and tensor.dim() == 0:
        return NotImplemented
    tensor, mask = torch.broadcast_tensors(tensor, mask)
    return torch.ops.aten.index(tensor, [mask])


def _write(operator: Any, tensor: Any, indexes: Any, values: Any, accumulate: bool, *unsafe: bool) -> Any:
    if not _has_mask(indexes):
        return NotImplemented
    masks = [one for one in indexes if one is not None]
    if not accumulate and len(masks) == 1 and indexes[0] is not None and values.dim() == 0:
        # A number is written where the mask is, without looking for the places.
        mask = masks[0].reshape(masks[0].size() + (1,) * (tensor.dim() - masks[0].dim()))
        is_new = operator is torch.ops.aten.index_put
        return (tensor.masked_fill if is_new else tensor.masked_fill_)(mask.bool(), 0)
    return operator(tensor, _placed(indexes), values, accumulate, *unsafe)


@written("index_put", source=MASKS, case="set-mask")
def _index_put_apart(tensor: Any, indexes: Any, values: Any, accumulate: bool = False) -> Any:
    name = node_name()
    if name.startswith("IndexPut"):
        return tensor.clone().index_put_(indexes, values, accumulate)
    if name == "IndexBackward0":
        # Into zeros, of what is known to be within limits.
        return torch.ops.aten._index_put_impl_(tensor, _placed(indexes), values, accumulate, True)
    return _write(torch.ops.aten.index_put, tensor, indexes, values, accumulate)


@written("index_put_", source=MASKS, case="set-mask")
def _index_put_in_place(tensor: Any, indexes: Any, values: Any, accumulate: bool = False) -> Any:
    return _write(torch.ops.aten.index_put_, tensor, indexes, values, accumulate)


@written("_index_put_impl_", source=MASKS, case="set-mask")
def _index_put_impl(
    tensor: Any, indexes: Any, values: Any, accumulate: bool = False, unsafe: bool = False
) -> Any:
    return _write(torch.ops.aten._index_put_impl_, tensor, indexes, values, accumulate, unsafe)


@rule("masked_scatter", "masked_scatter_", source=MASKS, case="masked_scatter")
def _masked_scatter(call: Call) -> None:
    """Which value goes where is counted first."""
    call.born()
    tensor, mask = call.args[:2]
    count = tensor.numel()
    if count:
        spread = 0 if mask.size() == tensor.size() and mask.is_contiguous() else count
        call.pass_by(count * INDEX, spread, scan_bytes(call.kernels, count, INDEX))


@rule(
    "repeat_interleave",
    source="repeat_interleave_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="repeat_interleave",
)
def _repeat_interleave(call: Call) -> None:
    """Where each begins is found first."""
    repeats = call.args[0]
    ends = call.take(repeats.numel() * INDEX)
    call.pass_by(scan_bytes(call.kernels, repeats.numel(), INDEX))
    if call.kwargs.get("output_size") is None:
        call.pass_by(repeats.element_size())
    call.born()
    call.give(ends)


@rule(
    "unfold_backward",
    source="unfold_backward, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="unfold-dim",
)
def _unfold_backward(call: Call) -> None:
    call.born()
    sizes, dim = call.args[1], call.args[2]
    call.pass_by(sizes[dim] * INDEX)


@rule(
    "scatter_reduce",
    "scatter_reduce_",
    source="recorded with torch 2.15, 2.9, 2.4",
    case="scatter_reduce",
)
def _scatter_reduce(call: Call) -> None:
    """A mean counts what it is of."""
    call.born()
    tensor, _, _, values, kind = call.args[:5]
    if kind == "mean":
        ones, counts = call.take(bytes_of(values)), call.take(bytes_of(tensor))
        call.pass_by(tensor.numel())
        call.give(counts, ones)


@rule(
    "index_reduce",
    "index_reduce_",
    source="recorded with torch 2.15, 2.9, 2.4",
    case="index_reduce",
)
def _index_reduce(call: Call) -> None:
    call.born()
    tensor, _, _, values, kind = call.args[:5]
    if kind == "mean":
        counts = call.take(bytes_of(tensor))
        call.pass_by(bytes_of(values))
        call.pass_by(tensor.numel())
        call.give(counts)


@rule(
    "bincount",
    source="_bincount_cuda, _histc_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="bincount",
)
def _bincount(call: Call) -> None:
    """Weights that are no floats or doubles become doubles; the smallest and the largest are looked for."""
    weights = call.arg(1, "weights")
    wide = None
    if weights is not None and weights.dtype not in (torch.float32, torch.float64):
        wide = call.take(weights.numel() * 8)
    _range(call, call.args[0])
    call.give(wide)


@rule(
    "histc",
    source="_bincount_cuda, _histc_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="histc",
)
def _histc(call: Call) -> None:
    call.born()
    if call.arg(2, "min", 0) == call.arg(3, "max", 0):
        _range(call, call.args[0])


def _range(call: Call, tensor: Any) -> None:
    width = tensor.element_size()
    if (2, 10) <= call.kernels.version:
        smallest, largest = call.take(width), call.take(width)
        meet(call, tensor, None, 2 * width, width)
        call.born()
        call.give(largest, smallest)
        return
    for _ in range(2):
        one = call.take(width)
        meet(call, tensor, None, width, width)
        call.give(one)
    call.born()
