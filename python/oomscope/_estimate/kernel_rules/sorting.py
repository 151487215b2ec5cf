"""Sorting and what is found by it."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..kernels import Call, bytes_of, rule
from .cub import mark_bytes, run_bytes, select_bytes, sort_bytes, tables
from .reductions import meet

SORT = "aten/src/ATen/native/cuda/Sort.cpp, SortStable.cu; recorded with torch 2.15, 2.9, 2.4"
TOPK = "mbtopk::launch, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"
MEDIAN = "aten/src/ATen/native/cuda/Sorting.cpp; recorded with torch 2.15, 2.9, 2.4"
UNIQUE = "aten/src/ATen/native/cuda/Unique.cu; recorded with torch 2.15, 2.9, 2.4"

INDEX = 8

# Rows of a sort that one block of threads sorts where they are.
SMALL_ROW = 4096

# Elements of rows that are sorted together; longer rows are sorted one after the other.
TOGETHER = 1_000_000


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
    count, width, kernels = tensor.numel(), tensor.element_size(), call.kernels
    bits = 1 if tensor.dtype == torch.bool else None
    if row <= SMALL_ROW:
        call.pass_by(row * INDEX)
    elif row == count:
        call.pass_by(count * INDEX, sort_bytes(kernels, count, width, INDEX, bits))
    elif TOGETHER <= row:
        places = call.take(row * INDEX)
        call.each([sort_bytes(kernels, row, width, INDEX, bits)] * (count // row))
        call.give(places)
    else:
        # Sorted by their values, and then by their rows.
        pairs = [call.take(count * INDEX) for _ in range(2)]
        call.pass_by(count * width, sort_bytes(kernels, count, width, INDEX, bits))
        call.pass_by(_by_row_bytes(call, count, count // row))
        call.give(*reversed(pairs))


def _by_row_bytes(call: Call, count: int, rows: int) -> int:
    """What sorting by rows asks for: as a sort of keys of eight bytes does, with as many bits as tell rows apart."""
    return sort_bytes(call.kernels, count, INDEX, 0, rows.bit_length())


@rule("topk", source=TOPK, case="topk")
def _topk(call: Call) -> None:
    """Few long rows are searched by many blocks each."""
    call.born()
    tensor, dim = call.args[0], call.arg(2, "dim", -1)
    if tensor.dim() == 0 or tensor.numel() == 0:
        return
    row = tensor.size(dim)
    rows = tensor.numel() // row
    copy = None
    if not tensor.is_contiguous():
        copy = call.take(bytes_of(tensor))
    if _is_searched_by_many(rows, row):
        _search(call, rows, row, tensor.element_size())
    call.give(copy)


def _is_searched_by_many(rows: int, row: int) -> bool:
    for most, least in ((20, 20_000), (40, 10_000), (80, 8000), (199, 5000), (799, 3000), (4000, 800)):
        if rows <= most:
            return least <= row
    return row >= 400


def _search(call: Call, rows: int, row: int, width: int) -> None:
    kernels = call.kernels
    threads, at_once = 256, 6
    each = -(-rows * row // (kernels.gpu.processors * at_once * threads))
    blocks = rows * -(-row // (threads * max(4, min(each, 64))))
    is_new = (2, 10) <= kernels.version
    wide = INDEX if (2, 6) <= kernels.version else 4
    held = [call.take(rows * width)]
    if not is_new:
        held.append(call.take(rows * 4))
    held += [call.take(rows * wide) for _ in range(2)]
    held.append(call.take(blocks * 256 * 2))
    if is_new:
        held.append(call.take(rows * 256 * 4))
    held += [call.take(blocks * 4) for _ in range(2)]
    call.each([tables((blocks // 1920 + 33) * 16, 256)] * 2)
    call.give(*reversed(held))


@rule(
    "mode",
    source="mode_out, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="mode",
)
def _mode(call: Call) -> None:
    """Rows that do not lie side by side are copied."""
    call.born()
    tensor = call.args[0]
    if tensor.dim() and not tensor.transpose(call.arg(1, "dim", -1), -1).is_contiguous():
        call.pass_by(bytes_of(tensor))


@rule("median", "nanmedian", source=MEDIAN, case="median")
def _median(call: Call) -> None:
    """Of all numbers: they are sorted."""
    tensor = call.args[0]
    count = tensor.numel()
    if len(call.args) != 1 or not count:
        return
    values, places = call.take(bytes_of(tensor)), call.take(count * INDEX)
    sort_temporaries(call, tensor, count)
    call.give(places)
    if call.func._schema.name == "aten::median":
        # Whether the last one is a number.
        number = call.take(1)
        call.born()
        call.give(number)
    else:
        _number_of_numbers(call, tensor)
        call.born()
    call.give(values)


def _number_of_numbers(call: Call, tensor: Any) -> None:
    marks = call.take(tensor.numel())
    total = call.take(INDEX)
    meet(call, torch.empty_like(tensor, dtype=torch.bool), None, INDEX, INDEX, dtype=torch.int64)
    if (2, 6) <= call.kernels.version:
        call.pass_by(INDEX, INDEX, INDEX)
    call.give(total, marks)


@rule(
    "multinomial",
    source="aten/src/ATen/native/Distributions.cpp; recorded with torch 2.15, 2.9, 2.4",
    case="multinomial",
)
def _multinomial(call: Call) -> None:
    tensor, count = call.args[:2]
    call.born()
    rows = tensor.numel() // tensor.size(-1)
    is_new = (2, 10) <= call.kernels.version
    if bool(call.arg(2, "replacement", False)):
        call.pass_by(*[bytes_of(tensor)] * (2 if is_new else 3))
        return
    # Whether all are probabilities: a few numbers.
    smallest, largest = (call.take(tensor.element_size()) for _ in range(2))
    marks = [call.take(1) for _ in range(3)]
    call.give(*(reversed(marks[:2]) if is_new else (*marks, smallest)))
    total, found = call.take(rows * tensor.element_size()), call.take(rows)
    if 1 < tensor.dim():
        zeros, found = found, call.take(1)
        call.give(zeros)
    call.give(total)
    call.pass_by(1)
    random = call.take(bytes_of(tensor))
    if 1 < count:
        call.pass_by(rows * count * tensor.element_size())
    call.give(random, found, *((marks[2], smallest) if is_new else ()), largest)


@rule(
    "randperm",
    source="aten/src/ATen/native/cuda/Randperm.cu; recorded with torch 2.15, 2.9, 2.4",
    case="randperm",
)
def _randperm(call: Call) -> None:
    """Random keys are sorted: as many bits as make two equal ones unlikely."""
    call.born()
    count, width = call.results.numel(), call.results.element_size()
    if count < 2:
        return
    call.pass_by(INDEX)
    bits = min(64, math.ceil(math.log2(count - (6 * count**2 + 1) / (math.log(0.9) * 12))))
    key = 4 if bits <= 32 else 8
    table = sort_bytes(call.kernels, count, key, width, bits)
    call.pass_by(count * width, count * key, count * key, table)


@rule("_unique2", source=UNIQUE, case="unique")
def _unique(call: Call) -> None:
    """The result keeps memory for all, as many as could be different."""
    tensor = call.args[0]
    count, width, kernels = tensor.numel(), tensor.element_size(), call.kernels
    is_placed, is_counted = (
        bool(call.arg(2, "return_inverse", False)),
        bool(call.arg(3, "return_counts", False)),
    )
    ordered = call.take(bytes_of(tensor))
    origins = None
    if is_placed:
        places, origins = (call.take(count * INDEX) for _ in range(2))
        call.pass_by(sort_bytes(kernels, count, width, INDEX))
        call.give(places)
        marks = call.take(count * INDEX)
        call.born(call.results[1])
        call.pass_by(mark_bytes(kernels, count))
        call.give(marks)
    else:
        call.pass_by(sort_bytes(kernels, count, width))
    _runs(call, tensor, is_counted)
    call.give(origins, ordered)


@rule("unique_consecutive", source=UNIQUE, case="unique-consecutive")
def _unique_consecutive(call: Call) -> None:
    tensor = call.args[0]
    is_placed, is_counted = (
        bool(call.arg(1, "return_inverse", False)),
        bool(call.arg(2, "return_counts", False)),
    )
    if call.arg(3, "dim") is not None:
        return
    if is_placed:
        call.born(call.results[1])
        call.pass_by(tensor.numel() * 4, mark_bytes(call.kernels, tensor.numel()))
    _runs(call, tensor, is_counted)


def _runs(call: Call, tensor: Any, is_counted: bool) -> None:
    count = tensor.numel()
    call.born_as(call.results[0], bytes_of(tensor))
    number = call.take(INDEX)
    if is_counted:
        call.born_as(call.results[2], count * INDEX)
        call.pass_by(run_bytes(count))
    else:
        call.pass_by(select_bytes(call.kernels, count, tensor.element_size()))
    call.give(number)


@rule(
    "searchsorted",
    "bucketize",
    source="searchsorted_out_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="searchsorted",
)
def _searchsorted(call: Call) -> None:
    """What does not lie side by side is copied, and so is what has another type."""
    call.born()
    first, second = call.args[:2]
    is_search = call.func._schema.name == "aten::searchsorted"
    edges, values = (first, second) if is_search else (second, first)
    if not isinstance(values, torch.Tensor):
        return
    copies = [call.take(bytes_of(one)) for one in (values, edges) if not one.is_contiguous()]
    common = torch.result_type(edges, values)
    if edges.dtype != values.dtype:
        copies += [call.take(one.numel() * common.itemsize) for one in (values, edges) if one.dtype != common]
    call.give(*reversed(copies))


@rule("isin", source="recorded with torch 2.15, 2.9, 2.4", case="isin")
def _isin(call: Call) -> None:
    """Among few each is compared with each; else both are sorted, which is not counted."""
    call.born()
    tensor, others = call.args[:2]
    if not isinstance(tensor, torch.Tensor) or not isinstance(others, torch.Tensor):
        return
    if tensor.numel() and others.numel() < 10 * tensor.numel() ** 0.145:
        call.pass_by(tensor.numel() * others.numel(), tensor.numel())
