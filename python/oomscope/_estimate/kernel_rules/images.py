"""Pooling, padding and sampling of images: copies of what does not lie side by side, and columns."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written

POOLING = "recorded with torch 2.15, 2.9, 2.4"
PADDING = "reflection_pad2d_cuda, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"
COLUMNS = "aten/src/ATen/native/cuda/Im2Col.cu, Col2Im.cu; recorded with torch 2.15, 2.9, 2.4"
GRID = "affine_grid_generator, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"

LAYOUTS = {4: torch.channels_last, 5: torch.channels_last_3d}


def is_side_by_side(image: Any) -> bool:
    """Whether a kernel reads an image as it is, channels first or last."""
    layout = LAYOUTS.get(image.dim())
    return bool(image.is_contiguous() or (layout is not None and image.is_contiguous(memory_format=layout)))


def _copies(call: Call, *images: Any) -> None:
    """Copies after the results."""
    call.born()
    call.pass_by(*(bytes_of(one) for one in images if not is_side_by_side(one)))


@rule(
    "max_pool2d_with_indices", "avg_pool2d", "adaptive_max_pool2d", source=POOLING, case="max_pool2d-turned"
)
@rule(
    "avg_pool3d", "adaptive_max_pool3d", "max_pool3d_with_indices", source=POOLING, case="max_pool2d-turned"
)
def _pool(call: Call) -> None:
    _copies(call, call.args[0])


@rule("max_pool2d_with_indices_backward", "avg_pool2d_backward", source=POOLING, case="max_pool2d-turned")
def _pool_backward(call: Call) -> None:
    _copies(call, call.args[0], call.args[1])


@rule("_adaptive_avg_pool2d", source=POOLING, case="adaptive_avg_pool2d-turned")
def _adaptive(call: Call) -> None:
    image = call.args[0]
    copy = None if is_side_by_side(image) else call.take(bytes_of(image))
    call.born()
    call.give(copy)


@rule("reflection_pad2d", "reflection_pad3d", "replication_pad3d", source=PADDING, case="pad-reflect-last")
def _pad(call: Call) -> None:
    """Channels that come last are brought into another order."""
    call.born()
    image = call.args[0]
    if not image.is_contiguous():
        call.pass_by(bytes_of(image))


@rule("im2col", source=COLUMNS, case="unfold")
@rule("col2im", source=COLUMNS, case="fold")
def _columns(call: Call) -> None:
    """The result is first as large as the input, and keeps that memory if it is enough."""
    given, made = bytes_of(call.args[0]), bytes_of(call.results)
    if made <= given:
        call.born_as(call.results, given)
        return
    taken = call.take(given)
    call.born()
    call.give(taken)


@written("affine_grid_generator", source=GRID, case="affine_grid")
def _affine_grid(theta: Any, size: Any, align_corners: bool) -> Any:
    batch, _, *sides = size
    count = len(sides)
    base = theta.new_empty((batch, *sides, count + 1))
    for at, side in enumerate(reversed(sides)):
        base.select(-1, at).copy_(_steps(theta, side, align_corners).reshape(-1, *[1] * at))
    base.select(-1, count).fill_(1)
    grid = base.view(batch, -1, count + 1).bmm(theta.transpose(1, 2))
    return grid.view(batch, *sides, count)


def _steps(theta: Any, count: int, align_corners: bool) -> Any:
    steps = torch.linspace(-1, 1, count, dtype=theta.dtype, device=theta.device)
    if align_corners:
        return steps
    wide = steps * (count - 1)
    return wide / count
