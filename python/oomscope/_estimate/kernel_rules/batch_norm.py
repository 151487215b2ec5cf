"""Batch norm with cuDNN, which keeps nothing where it does not train. Without cuDNN it takes nothing beside its results."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule

CUDNN = "aten/src/ATen/native/Normalization.cpp (_batch_norm_impl_index), cudnn/BatchNorm.cpp; results, not workspaces"

# Samples that cuDNN takes: of rows, of images in training, of images else.
MOST_ROWS, MOST_TRAINED, MOST = 131_070, 880_801, 65_535


@rule("native_batch_norm", source=CUDNN, case="batch_norm")
def _batch_norm(call: Call) -> None:
    tensor, weight, training = call.arg(0, "input"), call.arg(1, "weight"), call.arg(5, "training")
    if not _is_cudnns(tensor, weight, call.arg(2, "bias"), training):
        call.born()
        return
    out, *kept = call.results
    layout = (
        torch.channels_last
        if tensor.is_contiguous(memory_format=torch.channels_last) and tensor.dim() == 4
        else None
    )
    is_copied = layout is None and not tensor.is_contiguous()
    copy = call.take(bytes_of(tensor)) if is_copied else None
    call.born(out)
    for one in kept:
        call.born_as(one, bytes_of(one) if training else 0)
    call.give(copy)


def _is_cudnns(tensor: Any, weight: Any, bias: Any, training: bool) -> bool:
    if not torch.backends.cudnn.enabled or weight is None or bias is None:
        return False
    if torch.bfloat16 in (tensor.dtype, weight.dtype) or tensor.dtype == torch.float64 != weight.dtype:
        return False
    samples = tensor.size(0)
    if tensor.dim() == 2:
        return training and samples <= MOST_ROWS
    return tensor.dim() >= 3 and samples <= (MOST_TRAINED if training else MOST)
