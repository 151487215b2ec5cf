"""Sorting, selecting and adding up by indexes. What cub itself asks for depends on the architecture: within some per cent."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..kernels import Call, bytes_of, rule
from .embeddings import sort_bytes

SORT = "aten/src/ATen/native/cuda/Sort.cpp, SortStable.cu; recorded with torch 2.15"
INDEXING = "aten/src/ATen/native/cuda/Indexing.cu; recorded with torch 2.15, 2.9, 2.4"

INDEX = 8

# Rows of a sort that one block of threads sorts where they are.
SMALL_ROW = 4096


@rule("_index_put_impl_", "index_put_", "index_put", source=INDEXING, case="index")
def _index_put(call: Call) -> None:
    """What is added up is sorted by where it goes."""
    call.born()
    indexes = [one for one in call.args[1] if one is not None]
    if call.arg(3, "accumulate", False) and indexes:
        count = 1
        for size in torch.broadcast_shapes(*(one.size() for one in indexes)):
            count *= size
        _by_place(call, count)


def _by_place(call: Call, count: int) -> None:
    many = count * INDEX
    wrapped, linear = call.take(many), call.take(many)
    call.give(wrapped)
    ordered, origins, every = call.take(many), call.take(many), call.take(many)
    call.pass_by(_cub(count, 2 * INDEX))
    call.give(every, origins, ordered, linear)


def _cub(count: int, width: int) -> int:
    """One block sorts few without memory of its own."""
    return 1 if count <= 1024 else sort_bytes(count, width)


@rule("sort", source=SORT, case="sort")
def _sort(call: Call) -> None:
    call.born()
    tensor = call.args[0]
    dims = [one for one in call.args[1:] if isinstance(one, int) and not isinstance(one, bool)]
    dim = call.kwargs.get("dim", dims[0] if dims else -1)
    if tensor.numel() and tensor.dim():
        sort_temporaries(call, tensor, tensor.size(dim))


def sort_temporaries(call: Call, tensor: Any, row: int) -> None:
    """Beside the sorted values and their positions."""
    count, width = tensor.numel(), tensor.element_size()
    if row <= SMALL_ROW:
        call.pass_by(row * INDEX)
    elif row == count:
        call.pass_by(count * INDEX, _cub(count, width + INDEX))
    else:
        pairs = [call.take(count * INDEX) for _ in range(2)]
        call.pass_by(count * width, sort_bytes(count, width + INDEX))
        call.give(*reversed(pairs))


@rule(
    "median",
    "nanmedian",
    source="aten/src/ATen/native/cuda/Sorting.cpp; recorded with torch 2.15",
    case="median",
)
def _median(call: Call) -> None:
    """Of all numbers: they are sorted."""
    tensor = call.args[0]
    if len(call.args) == 1 and tensor.numel():
        values, places = call.take(bytes_of(tensor)), call.take(tensor.numel() * INDEX)
        call.pass_by(tensor.numel() * INDEX, _cub(tensor.numel(), tensor.element_size() + INDEX))
        call.give(places)
        call.born()
        call.give(values)


@rule(
    "multinomial",
    source="aten/src/ATen/native/Distributions.cpp; recorded with torch 2.15",
    case="multinomial",
)
def _multinomial(call: Call) -> None:
    tensor = call.args[0]
    is_replaced = bool(call.arg(2, "replacement", False))
    call.born()
    if call.args[1] == 1 or not is_replaced:
        call.pass_by(bytes_of(tensor))
    else:
        call.pass_by(bytes_of(tensor), bytes_of(tensor))


@rule("randperm", source="aten/src/ATen/native/cuda/Randperm.cu; recorded with torch 2.15", case="randperm")
def _randperm(call: Call) -> None:
    """Random keys are sorted: as many bits as make two equal ones unlikely."""
    call.born()
    count = call.results.numel()
    if count < 2:
        return
    call.pass_by(INDEX)
    bits = math.ceil(math.log2(count - (6 * count**2 + 1) / (math.log(0.9) * 12)))
    key = 4 if bits <= 32 else 8
    call.pass_by(count * INDEX, count * key, count * key, _cub(count, key + INDEX))


@rule("_unique2", source="aten/src/ATen/native/cuda/Unique.cu; recorded with torch 2.15", case="unique")
def _unique(call: Call) -> None:
    """The result keeps memory for all, as many as could be different."""
    tensor = call.args[0]
    is_placed, is_counted = (bool(call.arg(at, "", False)) for at in (2, 3))
    every = bytes_of(tensor)
    origins = [call.take(tensor.numel() * INDEX) for _ in range(2)] if is_placed or is_counted else []
    ordered = call.take(every)
    call.pass_by(sort_bytes(tensor.numel(), tensor.element_size() + (INDEX if origins else 0)))
    call.born_as(call.results[0], every)
    if is_placed:
        call.born(call.results[1])
    if is_counted:
        call.born_as(call.results[2], tensor.numel() * INDEX)
    call.give(ordered, *reversed(origins))


@rule("_trilinear", source="aten/src/ATen/native/Linear.cpp; recorded with torch 2.15", case="bilinear")
def _trilinear(call: Call) -> None:
    from .matmul import blas

    call.born()
    blas(call)
