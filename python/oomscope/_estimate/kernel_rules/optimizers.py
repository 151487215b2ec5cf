"""Operators on lists of tensors, as optimizers use them. All but norms take nothing beside their results."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import torch

from ..kernels import Call, rule, written
from .reductions import meet, wide

FOREACH = "aten/src/ATen/native/cuda/ForeachReduceOp.cu; recorded with torch 2.15, 2.9, 2.4"
POINTWISE = "recorded with torch 2.15, 2.9, 2.4; results only"

# Elements that one block of threads adds up.
CHUNK = 65536


@rule("_foreach_norm", "_foreach_max", source=FOREACH, case="clip")
def _norm(call: Call) -> None:
    tensors, order = call.args[0], call.arg(1, "ord", 2)
    is_new = (2, 10) <= call.kernels.version
    if call.func._schema.name == "aten::_foreach_norm" and not is_new and order not in (1, 2, inf):
        # One after the other.
        for tensor, result in zip(tensors, call.results):
            call.born(result)
            meet(call, tensor, None, wide(result.dtype), result.element_size())
        return
    chunks = [-(-one.numel() // CHUNK) for one in tensors]
    if is_new:
        taken = [call.take((len(tensors) + 1) * 8), call.take(sum(chunks) * 4)]
        call.born()
        call.give(*reversed(taken))
    else:
        taken = [call.take(len(tensors) * max(chunks, default=0) * 4)]
        call.born()
        call.give(*taken)


def _with_numbers(operator: Any) -> Callable[..., Any]:
    """Factors that are a tensor of the CPU are read as numbers."""

    is_in_place = operator.__name__.endswith("_")

    def run(tensors: Any, first: Any, second: Any, factors: Any = 1) -> Any:
        if not isinstance(factors, torch.Tensor) or factors.device.type != "cpu":
            return NotImplemented
        results = operator(tensors, first, second, factors.tolist())
        return None if is_in_place else results

    return run


for _operator in ("_foreach_addcmul", "_foreach_addcmul_", "_foreach_addcdiv", "_foreach_addcdiv_"):
    written(_operator, source=POINTWISE, case="foreach-addcmul")(_with_numbers(getattr(torch, _operator)))
