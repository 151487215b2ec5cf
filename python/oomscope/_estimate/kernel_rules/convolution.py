"""Convolutions. Without cuDNN they are products with columns of the input, sample by sample: exact where there are no groups."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from ..kernels import Call, bytes_of, rule
from .matmul import blas

SLOW = "aten/src/ATen/native/cuda/ConvolutionMM2d.cu, NaiveDilatedConvolution.cu, NaiveConvolutionTranspose*d.cu; recorded with torch 2.15"

# With cuDNN: its workspaces differ from device to device, and no table has them. Where it brings its input into another order first, that
# takes as much as the input, which is what is counted; channel by channel torch has a kernel of its own. Three recordings of real devices have none for 301 convolutions in 32 bits.


class Shape:
    """What a convolution is about, one sample and one group at a time."""

    def __init__(self, call: Call, tensor: Any, weight: Any, at: int) -> None:
        names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
        stride, padding, self.dilation, self.is_transposed, _, self.groups = (
            call.arg(at + position, name) for position, name in enumerate(names)
        )
        self.kernel = list(weight.size()[2:])
        self.samples = tensor.size(0)
        self.width = tensor.element_size()
        self.is_plain = all(one == 1 for one in (*self.kernel, *stride)) and not any(padding)
        self.is_depthwise = (
            not self.is_transposed
            and self.groups == tensor.size(1)
            and 1 < self.groups
            and weight.size(0) % self.groups == 0
            and len(self.kernel) in (1, 2, 3)
        )
        self.is_dilated = any(one != 1 for one in self.dilation) or len(self.kernel) == 3

    def columns(self, tensor: Any, weight: Any, out: Any) -> int:
        """Bytes of the columns of one sample."""
        if self.is_transposed:
            return int(weight.size(1) * prod(self.kernel) * prod(tensor.size()[2:]) * self.width)
        return int(weight.size(1) * prod(self.kernel) * prod(out.size()[2:]) * self.width)


@rule("convolution", "_convolution", "convolution_overrideable", source=SLOW, case="conv")
def _convolution(call: Call) -> None:
    tensor, weight, bias = call.args[:3]
    shape = Shape(call, tensor, weight, 3)
    out = call.results
    if torch.backends.cudnn.enabled:
        call.born()
        if not shape.is_depthwise:
            call.guess(bytes_of(tensor))
        return
    if shape.is_depthwise or out.numel() == 0:
        call.born()
        return
    held = []
    parts: list[Any] = []
    if 1 < shape.groups:
        for _ in range(shape.groups):
            part = call.take(bytes_of(tensor) // shape.groups)
            parts.append(call.take(bytes_of(out) // shape.groups))
            _products(call, shape, tensor, weight, out, bias)
            call.give(part)
        call.born()
        call.give(*parts)
        return
    for one in (tensor, weight):
        if not one.is_contiguous():
            held.append(call.take(bytes_of(one)))
    call.born()
    _products(call, shape, tensor, weight, out, bias)
    call.give(*reversed(held))


def _products(call: Call, shape: Shape, tensor: Any, weight: Any, out: Any, bias: Any) -> None:
    columns = None
    if not shape.is_plain or shape.is_transposed:
        columns = call.take(shape.columns(tensor, weight, out))
    ones = None
    if shape.is_transposed and bias is not None:
        ones = call.take(prod(out.size()[2:]) * shape.width)
    for _ in range(shape.samples * (2 if ones is not None else 1)):
        blas(call)
    call.give(ones, columns)


@rule("convolution_backward", source=SLOW, case="conv")
def _convolution_backward(call: Call) -> None:
    grad, tensor, weight = call.args[:3]
    shape = Shape(call, tensor, weight, 4)
    to_tensor, to_weight, to_bias = call.results
    if torch.backends.cudnn.enabled:
        for one, turned in ((to_tensor, grad), (to_weight, tensor)):
            if one is not None:
                call.born(one)
                if not shape.is_depthwise:
                    call.guess(bytes_of(turned))
        return
    if shape.is_depthwise:
        if len(shape.kernel) < 3 and to_weight is not None:
            call.born(to_weight)
        return
    columns = shape.columns(tensor, weight, grad)
    held = [call.take(bytes_of(one)) for one in (grad, tensor, weight) if not one.is_contiguous()]
    if 1 < shape.groups:
        held += [call.take(bytes_of(one) // shape.groups) for one in (grad, tensor, tensor)]
    if shape.is_transposed:
        _transposed(call, shape, columns)
    elif shape.is_dilated:
        call.born()
        taken = call.take(columns)
        for _ in range(shape.samples):
            for one in (to_tensor, to_weight):
                if one is not None:
                    blas(call)
            if to_bias is not None:
                call.pass_by(bytes_of(to_bias))
        call.give(taken)
    else:
        _plain(call, shape, columns)
    call.give(*reversed(held))


def _plain(call: Call, shape: Shape, columns: int) -> None:
    to_tensor, to_weight, to_bias = call.results
    taken = None
    if to_tensor is not None:
        call.born(to_tensor)
        taken = call.take(columns)
        for _ in range(shape.samples):
            blas(call)
    if to_bias is not None:
        call.born(to_bias)
    if to_weight is not None:
        call.born(to_weight)
        taken = taken or call.take(columns)
        for _ in range(shape.samples):
            blas(call)
    call.give(taken)


def _transposed(call: Call, shape: Shape, columns: int) -> None:
    to_tensor, to_weight, to_bias = call.results
    for results in ((to_tensor,), (to_weight, to_bias)):
        if results[0] is None:
            continue
        for one in results:
            if one is not None:
                call.born(one)
        taken = call.take(columns)
        for _ in range(shape.samples):
            blas(call)
        call.give(taken)
