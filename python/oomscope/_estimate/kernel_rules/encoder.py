"""Layers of encoders that a device computes at once where nothing trains."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from ..attention import attention
from ..kernels import written

ENCODER = "native_multi_head_attention, transformer_encoder_layer_forward, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4"


@written("_native_multi_head_attention", source=ENCODER, case="encoder-fast")
def _attend(
    query: Any,
    key: Any,
    value: Any,
    width: int,
    heads: int,
    weight: Any,
    bias: Any,
    out_weight: Any,
    out_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    *_: Any,
) -> Any:
    """Of itself, without a mask; else another way, whose temporaries are not counted."""
    if query is not key or key is not value or mask is not None or need_weights or width // heads % 8:
        return NotImplemented
    batch = query.size(0)
    parts = F.linear(query, weight, bias).chunk(3, -1)
    parts = tuple(part.view(batch, -1, heads, width // heads).transpose(1, 2) for part in parts)
    found = attention(torch.cuda.get_device_capability(), *parts)
    flat = found.transpose(1, 2).reshape(batch, -1, width)
    return F.linear(flat, out_weight, out_bias), None


@written("_transformer_encoder_layer_fwd", source=ENCODER, case="encoder-fast")
def _encode(
    tensor: Any,
    width: int,
    heads: int,
    weight: Any,
    bias: Any,
    out_weight: Any,
    out_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    *more: Any,
) -> Any:
    *norms, up, up_bias, down, down_bias = more[:8]
    if any(one is not None for one in more[8:]) or tensor.dim() != 3:
        return NotImplemented

    def norm(one: Any, at: int) -> Any:
        return F.layer_norm(one, (width,), norms[2 * at], norms[2 * at + 1], eps)

    given = norm(tensor, 0) if norm_first else tensor
    found = _attend(given, given, given, width, heads, weight, bias, out_weight, out_bias, None, False)
    if found is NotImplemented:
        return NotImplemented
    result = found[0].add_(tensor)
    del found, given
    if not norm_first:
        result = norm(result, 0)
    before = result
    if norm_first:
        result = norm(result, 1)
    rows = result.view(-1, width)
    wide = torch._addmm_activation(up_bias, rows, up.t(), use_gelu=use_gelu)
    narrow = torch.addmm(down_bias, wide, down.t())
    del rows, result, wide
    result = narrow.view(before.size()).add_(before)
    del narrow
    return result if norm_first else norm(result, 1)
