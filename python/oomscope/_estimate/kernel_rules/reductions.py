"""Reductions: the memory in which blocks meet where few results have many inputs each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ..kernels import Call, rule
from .layout import buffers, parts, reduction_dims

REDUCE = "aten/src/ATen/native/cuda/Reduce.cuh; recorded with torch 2.15, 2.9, 2.4"


def wide(dtype: Any) -> int:
    """Bytes of the type that a device accumulates in."""
    if dtype.is_complex:
        return max(8, dtype.itemsize)
    if dtype.is_floating_point:
        return max(4, int(dtype.itemsize))
    return 8


def reduced_dims(tensor: Any, dims: Any) -> set[int]:
    """Which dimensions are reduced: all, if none are named."""
    if isinstance(dims, int):
        dims = [dims]
    if not dims:
        return set(range(tensor.dim()))
    return {dim % max(tensor.dim(), 1) for dim in dims}


def meet(
    call: Call,
    tensor: Any,
    dims: Any,
    element: int,
    out: int,
    values: int = 4,
    vector: int = 4,
    is_apart: bool = False,
    dtype: Any = None,
) -> None:
    """The buffers of a reduction of a tensor over dimensions, which are given back when it is done.

    `is_apart` is whether parts of a result cannot be kept in the result, and `dtype` what the tensor is turned into before.
    """
    if tensor.numel() == 0:
        return
    turned = None
    if dtype not in (None, tensor.dtype) and not (tensor.element_size() == 2 and dtype == torch.float32):
        turned = call.take(tensor.numel() * dtype.itemsize)
        tensor = torch.empty_like(tensor, dtype=dtype)
    whole = reduction_dims(tensor, reduced_dims(tensor, dims), out)
    pieces = list(parts(whole))
    owned = None
    if is_apart and 1 < len(pieces):
        owned = call.take(max([out] + [dim.size * dim.out for dim in whole]) // out * element)
    for piece in pieces:
        memory, semaphores = buffers(
            piece,
            tensor.element_size(),
            element,
            call.kernels.gpu.processors,
            values,
            vector,
            tensor.storage_offset(),
        )
        call.pass_by(memory, semaphores)
    call.give(owned, turned)


def _vector(call: Call, tensor: Any) -> int:
    return 8 if tensor.element_size() == 2 and (2, 8) <= call.kernels.version else 4


@rule("sum", "nansum", source="ReduceSumProdKernel.cu, " + REDUCE, case="sum")
def _sum(call: Call) -> None:
    _simple(call, call.arg(1, "dim"), _vector(call, call.args[0]), True)


@rule("mean", source="ReduceMomentKernel.cu, " + REDUCE, case="mean")
def _mean(call: Call) -> None:
    _simple(call, call.arg(1, "dim"), _vector(call, call.args[0]), True)


@rule("prod", source="ReduceSumProdKernel.cu, " + REDUCE, case="prod")
def _prod(call: Call) -> None:
    _simple(call, call.arg(1, "dim"), 4, False)


@rule("linalg_vector_norm", source="ReduceNormKernel.cu, " + REDUCE, case="norm")
def _norm(call: Call) -> None:
    _simple(call, call.arg(2, "dim"), 4, True)


def _simple(call: Call, dims: Any, vector: int, is_apart: bool) -> None:
    tensor, result = call.args[0], call.results
    call.born()
    if not isinstance(dims, (int, list, tuple)):
        dims = None
    is_apart = is_apart and tensor.element_size() == 2 and result.dtype == tensor.dtype
    meet(
        call,
        tensor,
        dims,
        wide(result.dtype),
        result.element_size(),
        4,
        vector if tensor.element_size() == 2 else 4,
        is_apart,
        result.dtype,
    )


@rule("amax", "amin", source="ReduceMinValuesKernel.cu, " + REDUCE, case="amax")
def _amax(call: Call) -> None:
    call.born()
    tensor = call.args[0]
    meet(call, tensor, call.arg(1, "dim"), tensor.element_size(), tensor.element_size())


@rule("max", "min", source="TensorCompare.cu, " + REDUCE, case="max")
def _max(call: Call) -> None:
    call.born()
    tensor = call.args[0]
    if isinstance(call.results, torch.Tensor):
        if len(call.args) == 1:
            meet(call, tensor, None, tensor.element_size(), tensor.element_size())
    else:
        # A value and its position.
        meet(call, tensor, call.args[1], 16, tensor.element_size(), is_apart=True)


@rule("argmax", "argmin", source="ReduceArgMaxKernel.cu, " + REDUCE, case="argmax")
def _argmax(call: Call) -> None:
    call.born()
    dim = call.arg(1, "dim")
    meet(call, call.args[0], dim, 16, 8, is_apart=True)


@rule("aminmax", source="structured_aminmax_out, " + REDUCE, case="aminmax")
def _aminmax(call: Call) -> None:
    """Of all numbers; those of rows meet nowhere."""
    call.born()
    tensor = call.args[0]
    if call.kwargs.get("dim") is None:
        meet(call, tensor, None, 2 * tensor.element_size(), tensor.element_size())


@rule("renorm", "renorm_", source="structured_renorm_out, " + REDUCE, case="renorm")
def _renorm(call: Call) -> None:
    """A norm of each part, and by how much it is too large."""
    tensor, dim = call.args[0], call.args[2]
    call.born()
    if tensor.numel() == 0:
        return
    count, width = tensor.size(dim), max(4, tensor.element_size())
    norms = call.take(count * width)
    others = {at for at in range(tensor.dim()) if at != dim % tensor.dim()}
    meet(call, tensor, others, width, width)
    call.give(call.take(count * tensor.element_size()) if width != tensor.element_size() else None, norms)


@rule("any", "all", source="ReduceLogicKernel.cu, " + REDUCE, case="any")
def _any(call: Call) -> None:
    call.born()
    dims = call.arg(1, "dim")
    meet(call, call.args[0], dims, 1, 1)


@rule("var", "std", source="ReduceMomentKernel.cu, " + REDUCE, case="var")
def _var(call: Call) -> None:
    call.born()
    _moments(call, (call.results,))


@rule("var_mean", "std_mean", source="ReduceMomentKernel.cu, " + REDUCE, case="var_mean")
def _var_mean(call: Call) -> None:
    call.born()
    _moments(call, call.results)


def _moments(call: Call, results: Iterable[Any]) -> None:
    tensor = call.args[0]
    dims = call.arg(1, "dim")
    if isinstance(dims, bool):
        dims = None
    del results
    element = 32 if tensor.dtype == torch.float64 else 16
    meet(call, tensor, dims, element, tensor.element_size(), values=2, is_apart=True)


@rule(
    "count_nonzero",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp; recorded with torch 2.15, 2.9, 2.4",
    case="count_nonzero",
)
def _count_nonzero(call: Call) -> None:
    """What is not zero is marked, the marks are widened, and added up."""
    tensor = call.args[0]
    marks = torch.empty_like(tensor, dtype=torch.bool)
    is_marked = tensor.dtype == torch.bool and (2, 6) <= call.kernels.version
    taken = None if is_marked else call.take(marks.numel())
    call.born()
    dims = call.arg(1, "dim")
    meet(call, marks, dims if isinstance(dims, (int, list, tuple)) else None, 8, 8, dtype=torch.int64)
    call.give(taken)
