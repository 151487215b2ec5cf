"""Which kernel a device computes attention with, by its capability and the types and shapes, as torch's own choice is.

The rules are those of `aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`: flash attention, then memory-efficient attention, then
the written-out path, each where it is allowed and can.
"""

from __future__ import annotations

import math
import re
from typing import Any

import torch

HALVES = (torch.float16, torch.bfloat16)

FLASH_MAX_HEAD = 256

VERSION = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])

# Since some version after 2.9 fused kernels take queries without a batch, and memory-efficient attention fewer heads of keys.
IS_NEW = VERSION >= (2, 10)


def attention(
    capability: tuple[int, int],
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """`scaled_dot_product_attention` with the kernel of a device."""
    if IS_NEW and query.dim() == key.dim() == value.dim() == 3:
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        query, key, value = (one.unsqueeze(0) for one in (query, key, value))
        more: dict[str, Any] = {"scale": scale, "enable_gqa": enable_gqa}
        return attention(capability, query, key, value, attn_mask, dropout_p, is_causal, **more).squeeze(0)
    needs_grad = torch.is_grad_enabled() and any(one.requires_grad for one in (query, key, value))
    attn_mask = _as_bias(attn_mask, query)
    if _takes_flash(capability, query, key, value, attn_mask, enable_gqa, needs_grad):
        return _flash(query, key, value, dropout_p, is_causal, scale)
    if _takes_efficient(capability, query, key, value, attn_mask, enable_gqa):
        attn_mask = _aligned(attn_mask, query, key)
        found = torch.ops.aten._scaled_dot_product_efficient_attention(
            query, key, value, attn_mask, needs_grad, dropout_p, is_causal, scale=scale
        )
        return found[0]
    return _written_out(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _written_out(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    gqa: bool,
) -> Any:
    """As torch's own, which adds up in place only where nobody watches it."""
    kind = query.dtype
    # What is given is held until the end.
    wide_query, wide_key, wide_value = query, key, value
    if (
        kind in HALVES
        and (2, 5) <= VERSION
        and not torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    ):
        wide_query, wide_key, wide_value = query.float(), key.float(), value.float()
    factor = math.sqrt(abs(scale) if scale is not None else 1 / math.sqrt(query.size(-1)))
    scaled = wide_query * (-factor if scale is not None and scale < 0 else factor)
    if is_causal:
        ones = query.new_ones((query.size(-2), key.size(-2)), dtype=torch.bool)
        ones = ones.tril()
        bias = _as_bias(ones, scaled)
        del ones
    if gqa:
        wide_key = wide_key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        wide_value = wide_value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    scores = torch.matmul(scaled, wide_key.transpose(-2, -1) * factor)
    if bias is not None:
        scores.add_(bias)
    soft = torch._safe_softmax if (2, 5) <= VERSION else torch.softmax
    scores = soft(scores, -1)
    if 0 < dropout_p < 1:
        scores = torch.native_dropout(scores, dropout_p, True)[0]
    elif dropout_p:
        scores = torch.dropout(scores, dropout_p, True)
    # The weights are a result, too, which nobody takes.
    weights = scores.to(kind)
    result = torch.matmul(scores, wide_value).to(kind)
    del weights
    return result


def _takes_flash(
    capability: tuple[int, int], query: Any, key: Any, value: Any, mask: Any, gqa: bool, needs_grad: bool
) -> bool:
    head = query.size(-1)
    return (
        torch.backends.cuda.flash_sdp_enabled()
        and capability >= (8, 0)
        and mask is None
        and _are_plain(query, key, value)
        and query.dtype in HALVES
        and head == key.size(-1) == value.size(-1) <= FLASH_MAX_HEAD
        and not (needs_grad and 192 < head and VERSION < (2, 5) and capability not in ((8, 0), (9, 0)))
        and (gqa or query.size(-3) == key.size(-3) == value.size(-3))
        and all(one.stride(-1) == 1 for one in (query, key, value))
    )


def _takes_efficient(
    capability: tuple[int, int], query: Any, key: Any, value: Any, mask: Any, gqa: bool
) -> bool:
    # The rows of each head begin at addresses that tensor cores can read.
    elements = 8 if query.dtype in HALVES else 4
    if query.dtype not in HALVES and capability < (8, 0):
        elements = 1
    return (
        torch.backends.cuda.mem_efficient_sdp_enabled()
        and capability >= (5, 0)
        and _are_plain(query, key, value)
        and query.dtype in (*HALVES, torch.float32)
        and not (query.dtype == torch.bfloat16 and capability < (8, 0))
        and (
            query.size(-3) == key.size(-3) == value.size(-3)
            or (gqa and IS_NEW and key.size(-3) == value.size(-3))
        )
        and (IS_NEW or not gqa)
        and query.size(-1) % elements == 0
        and value.size(-1) % elements == 0
        and all(one.stride(-1) == 1 for one in (query, key, value))
        and (mask is None or mask.dtype == query.dtype)
    )


def _are_plain(query: Any, key: Any, value: Any) -> bool:
    return (
        query.dim() == key.dim() == value.dim() == 4
        and query.dtype == key.dtype == value.dtype
        and query.size(0) == key.size(0) == value.size(0)
        and 0 not in (query.size(-2), key.size(-2))
    )


def _flash(query: Any, key: Any, value: Any, dropout_p: float, is_causal: bool, scale: float | None) -> Any:
    head = query.size(-1)
    scale = scale if scale is not None else 1 / math.sqrt(head)
    missing = -head % 8
    if missing:
        query, key, value = (torch.nn.functional.pad(one, (0, missing)) for one in (query, key, value))
    found = torch.ops.aten._scaled_dot_product_flash_attention(
        query, key, value, dropout_p, is_causal, False, scale=scale
    )[0]
    return found[..., :head] if missing else found


def _as_bias(mask: Any, query: Any) -> Any:
    """A mask of what takes part, as what is added to the scores."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    if VERSION < (2, 5):
        bias = torch.zeros_like(mask, dtype=query.dtype)
        return bias.masked_fill_(mask.logical_not(), -math.inf)
    low, zero = query.new_full((), -math.inf), query.new_full((), 0.0)
    bias = torch.where(mask, zero, low)
    del zero, low
    return bias


def _aligned(bias: Any, query: Any, key: Any) -> Any:
    """A bias whose rows begin at addresses that the kernel can read, for all heads."""
    if bias is None:
        return None
    last = bias.size(-1)
    missing = -last % 16
    if missing:
        bias = torch.nn.functional.pad(bias, (0, missing))[..., :last]
    return bias.expand(query.size(0), query.size(1), query.size(2), key.size(2))
