"""Sums along a dimension, and reductions that a device writes out with other operators."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written
from .cub import scan_bytes

SCAN = "aten/src/ATen/native/cuda/ScanKernels.cpp, cub; recorded with torch 2.15, 2.9, 2.4"


@rule("cumsum", "cumprod", "logcumsumexp", source=SCAN, case="cumsum")
def _cumsum(call: Call) -> None:
    """A scan of a whole tensor is cub's. What has another type, or does not lie side by side, is copied before."""
    call.born()
    tensor, result = call.args[0], call.results
    if tensor.dim() == 0 or tensor.numel() == 0:
        return
    dim = call.arg(1, "dim")
    copies = []
    if tensor.dtype != result.dtype:
        copies.append(call.take(bytes_of(result)))
    if not tensor.is_contiguous():
        copies.append(call.take(bytes_of(result)))
    if tensor.numel() == tensor.size(dim):
        is_plain = result.dtype not in (torch.float16, torch.bfloat16) and not result.is_complex()
        call.pass_by(scan_bytes(call.kernels, result.numel(), result.element_size(), is_plain))
    call.give(*reversed(copies))


@written("logsumexp", source="ReduceOps.cpp; recorded with torch 2.15, 2.9, 2.4", case="logsumexp")
def _logsumexp(tensor: Any, dim: Any, keepdim: bool = False) -> Any:
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return NotImplemented
    maxes = torch.amax(tensor, dim, keepdim=True)
    flat = maxes if keepdim else torch.squeeze(maxes, dim)
    flat.masked_fill_(flat.abs() == torch.inf, 0)
    result = torch.sum((tensor - maxes).exp_(), dim, keepdim)
    return result.log_().add_(flat)
