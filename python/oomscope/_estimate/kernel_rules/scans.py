"""Sums along a dimension, and reductions that a device writes out with other operators."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, rule, written

SCAN = "aten/src/ATen/native/cuda/ScanKernels.cpp, cub; recorded with torch 2.15, 2.9, 2.4"


@rule("cumsum", "cumprod", source=SCAN, case="cumsum")
def _cumsum(call: Call) -> None:
    """A scan of a whole tensor is cub's; the last digit of its size depends on the architecture."""
    call.born()
    tensor, result = call.args[0], call.results
    dim = call.arg(1, "dim")
    if tensor.dim() == 1 and tensor.numel() > 0 and dim is not None and tensor.is_contiguous():
        call.pass_by(scan_bytes(result.numel(), result.element_size()))


def scan_bytes(count: int, width: int) -> int:
    """What cub's scan asks for: eight bytes a tile, and some."""
    tiles = -(-count // max(1, 1920 * 4 // max(4, width)))
    return -(-(tiles + 32) * 8 // 256) * 256 + 511


@written("logsumexp", source="ReduceOps.cpp; recorded with torch 2.15", case="logsumexp")
def _logsumexp(tensor: Any, dim: Any, keepdim: bool = False) -> Any:
    if tensor.numel() == 0 or not tensor.is_floating_point():
        return NotImplemented
    maxes = torch.amax(tensor, dim, keepdim=True)
    flat = maxes if keepdim else torch.squeeze(maxes, dim)
    flat.masked_fill_(flat.abs() == torch.inf, 0)
    result = torch.sum((tensor - maxes).exp_(), dim, keepdim)
    return result.log_().add_(flat)
