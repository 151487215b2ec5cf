"""Batch norm with cuDNN, which keeps nothing where it does not train, and without it."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule

CUDNN = "aten/src/ATen/native/Normalization.cpp (_batch_norm_impl_index), cudnn/BatchNorm.cpp; results, not workspaces"

OWN = "batch_norm_stats_channels_last_cuda_template, batch_norm_backward_reduce_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"

BACKWARD = ((0, "grad_out"), (1, "input"), (2, "weight"), (7, "train"))

# Threads of a block, channels that it reads side by side, samples that each thread adds up, and blocks that share a channel.
THREADS, TILE, EACH, MOST_BLOCKS = 512, 32, 16, 128

# Samples that cuDNN takes: of rows, of images in training, of images else.
MOST_ROWS, MOST_TRAINED, MOST = 131_070, 880_801, 65_535


@rule("native_batch_norm", source=CUDNN, case="batch_norm")
def _batch_norm(call: Call) -> None:
    tensor, weight, training = call.arg(0, "input"), call.arg(1, "weight"), call.arg(5, "training")
    if not _is_cudnns(tensor, weight, call.arg(2, "bias"), training):
        call.born()
        if training and is_read_last(tensor):
            _staged(call, tensor, 4)
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


@rule("native_batch_norm_backward", source=OWN, case="batch_norm-last")
def _batch_norm_backward(call: Call) -> None:
    """Channels that come last are added up apart. Images that do not lie side by side are copied."""
    grad, tensor, weight, training = (call.arg(at, name) for at, name in BACKWARD)
    mask = call.arg(9, "output_mask")
    needs_sums = training or mask[1] or mask[2]
    if _is_cudnns(tensor, weight, weight, training) or not needs_sums:
        return
    if not is_read_last(tensor):
        copies = [call.take(bytes_of(one)) for one in (tensor, grad) if not _is_flat(one)]
        call.born()
        call.give(*reversed(copies))
        return
    _, *others = call.results
    sums = [call.take(tensor.size(1) * max(4, tensor.element_size())) for _ in range(2)]
    for one in others:
        if one is not None:
            call.born(one)
    _staged(call, tensor, 2)
    call.born()
    call.give(*reversed(sums))


def is_read_last(tensor: Any) -> bool:
    """Whether kernels for channels that come last are taken."""
    if tensor.dim() == 2:
        return bool(tensor.is_contiguous())
    layout = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    return layout is not None and bool(tensor.is_contiguous(memory_format=layout))


def _is_flat(tensor: Any) -> bool:
    """Whether places of an image are one dimension as they lie."""
    sizes, strides = tensor.size()[2:], tensor.stride()[2:]
    pairs = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    return all(one[1] == other[0] * other[1] for one, other in zip(pairs, pairs[1:]))


def _staged(call: Call, tensor: Any, values: int) -> None:
    """Memory in which blocks meet, and their semaphores."""
    channels = tensor.size(1)
    samples = tensor.numel() // max(channels, 1)
    width = min(_power(channels), TILE)
    height = min(_power(-(-samples // EACH)), THREADS // width)
    if width * height != THREADS:
        width = min(_power(channels), THREADS // height)
    blocks = min(-(-samples // (height * EACH)), MOST_BLOCKS)
    if 8 <= blocks:
        call.pass_by(values * channels * blocks * max(4, tensor.element_size()), -(-channels // width) * 4)


def _power(value: int) -> int:
    return 1 << max(value.bit_length() - 1, 0)


def _is_cudnns(tensor: Any, weight: Any, bias: Any, training: bool) -> bool:
    if not torch.backends.cudnn.enabled or weight is None or bias is None:
        return False
    if torch.bfloat16 in (tensor.dtype, weight.dtype) or tensor.dtype == torch.float64 != weight.dtype:
        return False
    samples = tensor.size(0)
    if tensor.dim() == 2:
        return training and samples <= MOST_ROWS
    return tensor.dim() >= 3 and samples <= (MOST_TRAINED if training else MOST)
