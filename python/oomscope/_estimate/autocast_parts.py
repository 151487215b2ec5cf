"""Operators that torch makes of others, where autocast casts for a part: each part by itself here, as in torch's C++.

All of it is for tensors of a device while autocast is on; `NotImplemented` is the operator as it is. Sources: aten/src/ATen/native/
LossNLL.cpp, Distance.cpp, Pow.cpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .autocast import NARROW

MEAN, SUM = 1, 2

Cast = Callable[[str, Any, Any], tuple[Any, Any]]


def square(cast: Cast, tensor: Any) -> Any:
    """A power."""
    (tensor, _), _ = cast("pow", (tensor, 2), {})
    return tensor.pow(2)


def pairwise_distance(
    cast: Cast, one: Any, other: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """A norm of the difference."""
    difference = one - other + eps
    if difference.dtype not in NARROW:
        return torch.ops.aten.norm.ScalarOpt_dim(difference, p, [-1], keepdim)
    del cast
    return torch.ops.aten.norm.ScalarOpt_dim_dtype(difference, p, [-1], keepdim, dtype=torch.float32)


def cross_entropy(
    cast: Cast,
    tensor: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """Autocast finds a type that is asked for in the softmax, which stays narrow, and widens for the losses of its results."""
    if tensor.dtype not in NARROW:
        return NotImplemented
    classes = 1 if 1 < tensor.dim() else 0
    logs = torch.log_softmax(tensor, classes)
    if target.is_floating_point():
        return _of_probabilities(
            cast, logs, target, _along(weight, logs, classes), reduction, label_smoothing
        )
    (wide, _, wide_weight), _ = cast("nll_loss_nd", (logs, target, weight), {})
    loss = torch._C._nn.nll_loss_nd(wide, target, wide_weight, reduction, ignore_index)
    del wide
    if not label_smoothing:
        return loss
    smooth = -_summed(cast, logs if weight is None else logs * _along(weight, logs, classes), classes)
    ignored = target == ignore_index
    smooth.masked_fill_(ignored, 0.0)
    if reduction == MEAN:
        # Weights of the targets are gathered, which takes as much as targets.
        counted = ignored.logical_not()
        smooth = _summed(cast, smooth) / (counted.sum() if weight is None else (counted * weight[0]).sum())
    elif reduction == SUM:
        smooth = _summed(cast, smooth)
    return (1 - label_smoothing) * loss + smooth * (label_smoothing / tensor.size(classes))


def _of_probabilities(
    cast: Cast, logs: Any, target: Any, weight: Any, reduction: int, smoothing: float
) -> Any:
    classes = 1 if 1 < logs.dim() else 0
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logs.size(classes)
    parts = logs * target if weight is None else logs * target * weight
    if reduction == MEAN:
        return -(_summed(cast, parts) / (logs.numel() / logs.size(classes)))
    return -(_summed(cast, parts) if reduction == SUM else _summed(cast, parts, classes))


def _along(weight: Any, logs: Any, classes: int) -> Any:
    """Weights of classes, as wide as what they are multiplied with."""
    return None if weight is None else weight.view([-1 if dim == classes else 1 for dim in range(logs.dim())])


def _summed(cast: Cast, tensor: Any, *dims: Any) -> Any:
    args, kwargs = cast("sum", (tensor, *dims), {})
    return torch.sum(*args, **kwargs)
