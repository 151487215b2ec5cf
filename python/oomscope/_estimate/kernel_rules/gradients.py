"""Formulas of gradients that write in place, which they do not where a mode watches: torch asks `isTensorSubclassLike`, and a tensor without
memory is like one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..kernels import WRITTEN, written

FORMULAS = "the formulas of autograd, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"

# References to a tensor that only the formula has, once as what it wrote into.
SOLE = 5


def node_name() -> str:
    """The formula that is computed now."""
    if torch._C._current_graph_task_id() == -1:
        return ""
    node = torch._C._current_autograd_node()
    return "" if node is None else str(node.name())


def _in_place(operator: str, formulas: frozenset[str]) -> Callable[..., Any]:
    """Writes into what the operator takes where the formula does."""
    write = getattr(torch.Tensor, operator + "_")

    def run(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if node_name() not in formulas:
            return NotImplemented
        return write(tensor, *args, **kwargs)

    return run


LARGEST = frozenset(("MaxBackward1", "MinBackward1", "MedianBackward0", "NanmedianBackward0"))
BETWEEN = frozenset(
    (
        "MaximumBackward0",
        "MinimumBackward0",
        "ClampBackward0",
        "ClampBackward1",
        "ClampMaxBackward1",
        "ClampMinBackward1",
        "Atan2Backward0",
    )
)

written("masked_fill", source=FORMULAS, case="maximum")(_in_place("masked_fill", BETWEEN))
written("masked_scatter", source=FORMULAS, case="masked_select")(
    _in_place("masked_scatter", frozenset(("MaskedSelectBackward0",)))
)
written("logical_and", source=FORMULAS, case="max")(_in_place("logical_and", LARGEST))
written("put", source=FORMULAS, case="take")(_in_place("put", frozenset(("TakeBackward0",))))
written("index_fill", source=FORMULAS, case="trace")(_in_place("index_fill", frozenset(("TraceBackward0",))))


def watch_logits() -> None:
    """From now on there may be a gradient of `binary_cross_entropy_with_logits`. Products are too frequent to look at each without need."""
    WRITTEN["aten::sub"] = _sub
    WRITTEN["aten::mul"] = _mul


def _sub(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return tensor.sub_(*args, **kwargs) if _is_from_logits() else NotImplemented


def _mul(tensor: Any, other: Any) -> Any:
    """All but the weight of positive ones, which is multiplied first."""
    if not _is_from_logits() or SOLE < tensor._use_count():
        return NotImplemented
    return tensor.mul_(other)


def _is_from_logits() -> bool:
    return node_name() == "BinaryCrossEntropyWithLogitsBackward0"


def _apart(operator: str) -> Callable[..., Any]:
    """Writes into a copy of a gradient, which is no tensor of zeros."""
    write = getattr(torch.Tensor, operator + "_")

    def run(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if not node_name().startswith(("Scatter", "IndexReduce", "IndexPut", "IndexCopy")):
            return NotImplemented
        return write(tensor.clone(), *args, **kwargs)

    return run


for _operator in ("scatter", "scatter_add", "index_add", "index_copy"):
    written(_operator, source=FORMULAS, case="scatter")(_apart(_operator))


@written("masked_scatter_backward", source=FORMULAS, case="masked_scatter")
def _masked_scatter_backward(grad: Any, mask: Any, sizes: Any) -> Any:
    """What the mask selected, and zeros."""
    selected = grad.masked_select(mask)
    missing = torch.Size(sizes).numel() - selected.numel()
    if 0 < missing:
        zeros = grad.new_zeros((missing,))
        selected = torch.cat((selected, zeros))
    return selected.view(sizes)
