"""How a reduction sees its input: torch's TensorIterator, and how CUDA's kernel splits the work.

The rules are those of `aten/src/ATen/TensorIterator.cpp` (order of dimensions, joined ones, 32-bit parts) and
`aten/src/ATen/native/cuda/Reduce.cuh` (`setReduceConfig`): exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

WARP = 32
MAX_THREADS = 512
THREADS_PER_PROCESSOR = 2048
INT_MAX = 2**31 - 1


@dataclass
class Dim:
    """A dimension of an iteration: how long it is, and the bytes between elements of the output and of the input."""

    size: int
    out: int
    into: int


def reduction_dims(tensor: Any, reduced: set[int], out_bytes: int) -> list[Dim]:
    """The dimensions of a reduction, the fastest first and joined where they are one."""
    found = []
    step = out_bytes
    outs = {}
    for at in reversed(range(tensor.dim())):
        outs[at] = 0 if at in reduced else step
        step *= 1 if at in reduced else tensor.size(at)
    width = tensor.element_size()
    for at in range(tensor.dim()):
        size = tensor.size(at)
        found.append(Dim(size, outs[at] if size != 1 else 0, tensor.stride(at) * width if size != 1 else 0))
    return _joined(_sorted(list(reversed(found))))


def _sorted(dims: list[Dim]) -> list[Dim]:
    for start in range(1, len(dims)):
        at = start
        for before in reversed(range(start)):
            swap = _swap(dims[before], dims[at])
            if swap > 0:
                dims[before], dims[at] = dims[at], dims[before]
                at = before
            elif swap < 0:
                break
    return dims


def _swap(first: Dim, second: Dim) -> int:
    """Whether two dimensions are in the wrong order; what is reduced comes first."""
    if (first.out == 0) != (second.out == 0):
        return 1 if second.out == 0 else -1
    for one, other in ((first.out, second.out), (first.into, second.into)):
        if one == 0 or other == 0:
            continue
        if one != other:
            return -1 if one < other else 1
        if first.size > second.size:
            return 1
    return 0


def _joined(dims: list[Dim]) -> list[Dim]:
    joined: list[Dim] = []
    for dim in dims:
        last = joined[-1] if joined else None
        if last is None:
            joined.append(Dim(dim.size, dim.out, dim.into))
        elif (
            last.size == 1
            or dim.size == 1
            or (last.size * last.out == dim.out and last.size * last.into == dim.into)
        ):
            if last.size == 1:
                last.out, last.into = dim.out, dim.into
            last.size *= dim.size
        else:
            joined.append(Dim(dim.size, dim.out, dim.into))
    return joined


def parts(dims: list[Dim]) -> Iterator[list[Dim]]:
    """An iteration in parts that 32 bits can count."""
    count = 1
    for dim in dims:
        count *= dim.size
    reach = [1 + sum((dim.size - 1) * step for dim, step in zip(dims, steps)) for steps in _steps(dims)]
    if count <= INT_MAX and max(reach) <= INT_MAX:
        yield dims
        return
    widest, extent = 0, -1
    for at in reversed(range(len(dims))):
        size = dims[at].size
        for step in (dims[at].out, dims[at].into):
            if size and extent < (size - 1) * step:
                widest, extent = at, (size - 1) * step
    half = dims[widest].size // 2
    for size in (half, dims[widest].size - half):
        part = [Dim(dim.size, dim.out, dim.into) for dim in dims]
        part[widest].size = size
        yield from parts(part)


def _steps(dims: list[Dim]) -> tuple[list[int], list[int]]:
    return [dim.out for dim in dims], [dim.into for dim in dims]


def buffers(
    dims: list[Dim],
    width: int,
    element: int,
    processors: int,
    values: int = 4,
    vector: int = 4,
    offset: int = 0,
) -> tuple[int, int]:
    """The memory in which blocks of a reduction meet, and their semaphores, in bytes.

    `width` is the size of an input, `element` of what is accumulated, `values` and `vector` how many inputs a thread takes at once, and
    `offset` where the input begins, in elements.
    """
    dims = [dim for dim in dims if dim.size != 1] or dims[:1]
    outputs = inputs = 1
    count = 0
    for dim in dims:
        if dim.out == 0 and dim.size > 1:
            inputs *= dim.size
            count += 1
        else:
            outputs *= dim.size
    is_inner, moving = True, width
    first, second, out_vector = 1, 1, 1
    if dims and dims[0].size > 1:
        is_inner = count == len(dims) or (count > 0 and dims[0].into < dims[count].into)
        first, second = (inputs, outputs) if is_inner else (outputs, inputs)
        moving = dims[0].into if is_inner else dims[count].into
    if moving == width:
        if is_inner and 128 < first and len(dims) == 1 and vector <= values:
            first //= vector
        elif not is_inner:
            out_vector = _output_vector(dims, count, width, offset)
            first //= out_vector
    block_x, block_y = _block(first, second, MAX_THREADS // out_vector)
    threads = block_x * block_y
    step_in = step_out = 1
    if is_inner:
        step_in *= block_x
    else:
        step_out *= block_x
    is_split = min(block_y * 16, 256) <= _up(inputs, step_in)
    if is_split:
        step_in *= block_y
    else:
        step_out *= block_y
    target = processors * (THREADS_PER_PROCESSOR // threads)
    grid = _up(outputs // out_vector, step_out)
    each = _up(inputs, step_in)
    if not is_split or each < 256 or target < grid:
        return 0, 0
    blocks = max(min(_up(target, grid), _up(each, 16)), _up(each, 256))
    if blocks <= 1:
        return 0, 0
    memory = element * outputs * blocks
    return (memory if is_inner else memory * block_x * out_vector), 4 * grid


def _block(first: int, second: int, most: int) -> tuple[int, int]:
    one = _power(first) if first < most else most
    other = _power(second) if second < most else most
    width = min(one, WARP)
    height = min(other, most // width)
    return min(one, most // height), height


def _output_vector(dims: list[Dim], at: int, width: int, offset: int) -> int:
    vector = 4
    while dims[at].size % vector or offset % vector:
        vector //= 2
    for other, dim in enumerate(dims):
        while other != at and dim.into // width % vector:
            vector //= 2
    return vector


def _power(value: int) -> int:
    return 1 << max(value.bit_length() - 1, 0)


def _up(value: int, by: int) -> int:
    return -(-value // by)
