"""Losses, and what is normalized: softmax, layer and group norm, and their gradients."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule
from .reductions import meet, wide

SOFTMAX = "aten/src/ATen/native/cuda/SoftMax.cu; recorded with torch 2.15, 2.9, 2.4"
LOSS = "aten/src/ATen/native/cuda/Loss.cu, BinaryOps.cpp; recorded with torch 2.15, 2.9, 2.4"
NORM = "aten/src/ATen/native/cuda/group_norm_kernel.cu; recorded with torch 2.15, 2.9, 2.4"

NONE = 0


@rule("_softmax_backward_data", source=SOFTMAX, case="softmax")
def _softmax_backward(call: Call) -> None:
    """The gradient times the result comes first."""
    call.born()
    call.pass_by(bytes_of(call.args[0]))


@rule("_softmax", "_log_softmax", "_log_softmax_backward_data", source=SOFTMAX, case="log_softmax")
def _softmax(call: Call) -> None:
    """What does not lie side by side is copied."""
    call.born()
    tensors = [one for one in call.args[:2] if isinstance(one, torch.Tensor)]
    call.pass_by(*(bytes_of(one) for one in tensors if not one.is_contiguous()))


@rule(
    "_safe_softmax",
    source="aten/src/ATen/native/SoftMax.cpp; recorded with torch 2.15, 2.9",
    case="attention-math",
)
def _safe_softmax(call: Call) -> None:
    call.born()
    result = call.results
    dim = call.arg(1, "dim")
    call.pass_by(result.numel(), result.numel() // max(result.size(dim), 1), result.element_size())


@rule(
    "native_dropout",
    source="aten/src/ATen/native/cuda/Dropout.cu; recorded with torch 2.15, 2.9, 2.4",
    case="dropout",
)
def _dropout(call: Call) -> None:
    """The mask comes first."""
    call.born(call.results[1])
    call.born(call.results[0])


def _each(call: Call) -> Any:
    """A tensor as the loss of each element."""
    first, second = torch.broadcast_tensors(call.args[0], call.args[1])
    return torch.empty(first.size(), dtype=torch.result_type(first, second), device="meta")


def _mean(call: Call, each: Any) -> None:
    vector = 8 if each.element_size() == 2 and (2, 8) <= call.kernels.version else 4
    meet(
        call,
        each,
        None,
        wide(each.dtype),
        each.element_size(),
        vector=vector,
        is_apart=each.element_size() == 2,
    )


@rule("mse_loss", "smooth_l1_loss", source=LOSS, case="mse")
def _mse(call: Call) -> None:
    """The loss keeps the memory of a loss of each element, of which it is the mean."""
    if call.arg(2, "reduction", 1) == NONE:
        return
    each = _each(call)
    call.born_as(call.results, bytes_of(each))
    taken = call.take(bytes_of(each))
    _mean(call, each)
    call.give(taken)


@rule("huber_loss", source=LOSS, case="huber")
def _huber(call: Call) -> None:
    if call.arg(2, "reduction", 1) == NONE:
        return
    each = _each(call)
    taken = call.take(bytes_of(each))
    call.born()
    _mean(call, each)
    call.give(taken)


@rule("binary_cross_entropy", source=LOSS, case="bce")
def _cross_entropy(call: Call) -> None:
    """As above, but the mean is copied into the loss."""
    if call.arg(3, "reduction", 1) == NONE:
        return
    each = _each(call)
    call.born_as(call.results, bytes_of(each))
    taken = call.take(each.element_size())
    _mean(call, each)
    call.give(taken)


@rule("log_sigmoid_forward", source="aten/src/ATen/native/cuda/Activation.cpp; recorded", case="logsigmoid")
def _log_sigmoid(call: Call) -> None:
    """Only the CPU keeps a buffer."""
    call.born(call.results[0])
    call.born_as(call.results[1], 0)


@rule("native_group_norm", source=NORM, case="group_norm")
def _group_norm(call: Call) -> None:
    tensor, weight = call.args[0], call.arg(1, "weight")
    batch, channels, _, groups = call.args[3:7]
    call.born()
    taken = []
    if tensor.element_size() == 2 and call.kernels.version >= (2, 10):
        taken = [call.take(batch * groups * 4) for _ in range(2)]
    if weight is not None:
        taken += [call.take(batch * channels * max(4, tensor.element_size())) for _ in range(2)]
    call.give(*reversed(taken))


@rule("native_group_norm_backward", source=NORM, case="group_norm")
def _group_norm_backward(call: Call) -> None:
    grad, tensor = call.args[:2]
    weight = call.args[4]
    batch, channels, inner, groups = call.args[5:9]
    width = max(4, tensor.element_size())
    call.born()
    sums = [call.take(batch * channels * width) for _ in range(2)]
    parts = [call.take(batch * groups * width) for _ in range(2)]
    scaled = None
    if weight is not None and grad.is_contiguous() and 1 < inner:
        scaled = call.take(batch * channels * width)
    call.give(parts[1], parts[0], scaled, sums[1], sums[0])


@rule("im2col", source="aten/src/ATen/native/cuda/Im2Col.cu; recorded", case="unfold")
def _unfold(call: Call) -> None:
    taken = call.take(bytes_of(call.args[0]))
    call.born()
    call.give(taken)


@rule("col2im", source="aten/src/ATen/native/cuda/Col2Im.cu; recorded", case="fold")
def _fold(call: Call) -> None:
    """The result is made of the memory for a tensor like the input."""
    call.born_as(call.results, max(bytes_of(call.args[0]), bytes_of(call.results)))
