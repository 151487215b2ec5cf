"""Losses, and what is normalized: softmax, layer and group norm, and their gradients."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written
from .gradients import watch_logits
from .reductions import meet, wide

SOFTMAX = "aten/src/ATen/native/cuda/SoftMax.cu; recorded with torch 2.15, 2.9, 2.4"
LOSS = "aten/src/ATen/native/cuda/Loss.cu, BinaryOps.cpp; recorded with torch 2.15, 2.9, 2.4"
NORM = "aten/src/ATen/native/cuda/group_norm_kernel.cu; recorded with torch 2.15, 2.9, 2.4"
CTC = "ctc_loss_gpu, ctc_loss_backward_gpu, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"

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


@rule("binary_cross_entropy", "soft_margin_loss", source=LOSS, case="bce")
def _cross_entropy(call: Call) -> None:
    """As above, but the mean is copied into the loss."""
    is_soft = call.func._schema.name == "aten::soft_margin_loss"
    if call.arg(2 if is_soft else 3, "reduction", 1) == NONE:
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
    batch, channels, inner, groups = call.args[3:7]
    call.born()
    taken = []
    if tensor.element_size() == 2 and call.kernels.version >= (2, 10):
        taken = [call.take(batch * groups * 4) for _ in range(2)]
    if weight is not None and 1 < inner:
        taken += [call.take(batch * channels * max(4, tensor.element_size())) for _ in range(2)]
    call.give(*reversed(taken))


@rule("native_group_norm_backward", source=NORM, case="group_norm")
def _group_norm_backward(call: Call) -> None:
    grad, tensor = call.args[:2]
    weight = call.args[4]
    batch, channels, inner, groups = call.args[5:9]
    width = max(4, tensor.element_size())
    call.born()
    is_summed = 1 < inner or call.kernels.version < (2, 10)
    sums = [call.take(batch * channels * width) for _ in range(2)] if is_summed else []
    parts = [call.take(batch * groups * width) for _ in range(2)]
    scaled = None
    if weight is not None and grad.is_contiguous() and 1 < inner:
        scaled = call.take(batch * channels * width)
    call.give(parts[1], parts[0], scaled, *reversed(sums))


@rule(
    "native_layer_norm",
    "native_layer_norm_backward",
    source="layer_norm_cuda, layer_norm_backward_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="layer_norm-turned",
)
def _layer_norm(call: Call) -> None:
    """What does not lie side by side is copied."""
    count = 2 if call.func._schema.name.endswith("_backward") else 1
    copies = [call.take(bytes_of(one)) for one in call.args[:count] if not one.is_contiguous()]
    call.born()
    call.give(*reversed(copies))


@written(
    "binary_cross_entropy_with_logits",
    source="recorded with torch 2.15, 2.9, 2.4",
    case="bce-logits",
)
def _cross_entropy_with_logits(
    tensor: Any, target: Any, weight: Any = None, positive: Any = None, reduction: int = 1
) -> Any:
    watch_logits()
    logs = torch.nn.functional.logsigmoid(tensor)
    if positive is not None:
        logs.mul_((positive - 1).mul(target).add_(1))
    loss = (1 - target).mul_(tensor).sub_(logs)
    if weight is not None:
        loss.mul_(weight)
    return _reduced(loss, reduction)


def _reduced(loss: Any, reduction: int) -> Any:
    return loss if reduction == NONE else loss.mean() if reduction == 1 else loss.sum()


@written(
    "soft_margin_loss_backward",
    source="soft_margin_loss_backward_out, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="soft_margin",
)
def _soft_margin_backward(grad: Any, tensor: Any, target: Any, reduction: int = 1) -> Any:
    del reduction
    turned = -target
    product = turned * tensor
    exponents = torch.exp(product)
    del turned, product
    result = torch.mul(target, exponents).mul_(-1.0)
    return result.div_(exponents.add_(1)).mul_(grad)


@rule("_ctc_loss", source=CTC, case="ctc")
def _ctc(call: Call) -> None:
    """Lengths, and where each text begins, are copied to the device."""
    losses, logs = call.results
    lengths = [call.take(losses.numel() * 8) for _ in range(3)]
    call.born(logs)
    call.born(losses)
    call.give(*reversed(lengths))


@rule("_ctc_loss_backward", source=CTC, case="ctc")
def _ctc_backward(call: Call) -> None:
    logs = call.args[6]
    lengths = [call.take(logs.size(0) * 8) for _ in range(3)]
    work = call.take(bytes_of(logs))
    call.born()
    call.give(work, *reversed(lengths))


@written(
    "mse_loss_backward",
    "smooth_l1_loss_backward",
    "huber_loss_backward",
    source="recorded with torch 2.15; older versions refuse it",
    case="mse-mixed",
)
def _loss_backward(grad: Any, tensor: Any, target: Any, *_: Any) -> Any:
    """A gradient has the type of what it is of, which torch gets wrong without memory."""
    return NotImplemented if tensor.dtype == target.dtype else torch.zeros_like(tensor)


MARGIN = "multilabel_margin_loss_forward_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"


@rule("multi_margin_loss", source=MARGIN, case="multi_margin")
def _multi_margin(call: Call) -> None:
    """A loss of each row, which are added up."""
    call.born()
    tensor = call.args[0]
    if call.arg(5, "reduction", 1) != NONE and tensor.dim() == 2:
        call.pass_by(tensor.size(0) * tensor.element_size())


@rule("multilabel_margin_loss_forward", source=MARGIN, case="multi_margin")
def _multilabel_margin(call: Call) -> None:
    tensor = call.args[0]
    call.born(call.results[1])
    call.born()
    if call.arg(2, "reduction", 1) != NONE and tensor.dim() == 2:
        call.pass_by(tensor.size(0) * tensor.element_size())


@written("multi_margin_loss_backward", "multilabel_margin_loss_backward", source=MARGIN, case="multi_margin")
def _margin_backward(grad: Any, tensor: Any, *_: Any, **__: Any) -> Any:
    """The CPU, which is asked for what torch does not know, lacks narrow types."""
    return torch.zeros_like(tensor) if tensor.element_size() == 2 else NotImplemented
