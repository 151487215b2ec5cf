"""Fused attention: what flash and memory-efficient kernels take beside their results. The rules are exact."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule

FLASH = "flash_attn/flash_api.cpp, attention_backward.cu; recorded with torch 2.15, 2.9, 2.4"
EFFICIENT = "mem_eff_attention/kernel_backward.h, attention.cu; recorded with torch 2.15, 2.9, 2.4; capability 9.0, 8.0, 7.5, 7.0"

FLOAT = 4


def up(value: int, by: int) -> int:
    """The next multiple."""
    return -(-value // by) * by


def _rounded_head(call: Call, head: int) -> int:
    """How wide a head is for flash attention's buffers."""
    if call.kernels.version >= (2, 10):
        return up(head, 32 if head <= 128 else 64)
    return up(head, 32) if head <= 192 else 256


def _splits(call: Call, blocks: int, key_blocks: int) -> int:
    """How many parts of the keys are computed at once, where there are too few queries for a device."""
    processors = 2 * call.kernels.gpu.processors
    if 0.8 * processors <= blocks:
        return 1
    most = min(128, processors, key_blocks)

    def is_new(count: int) -> bool:
        return count == 1 or -(-key_blocks // count) != -(-key_blocks // (count - 1))

    def efficiency(count: int) -> float:
        waves = blocks * count / processors
        return waves / -(-blocks * count // processors)

    best = max((efficiency(count) for count in range(1, most + 1) if is_new(count)), default=0.0)
    for count in range(1, most + 1):
        if is_new(count) and 0.85 * best <= efficiency(count):
            return count
    return 1


@rule("_scaled_dot_product_flash_attention", source=FLASH, case="attention-causal")
def _flash(call: Call) -> None:
    query, key = call.args[0], call.args[1]
    out, sums = call.results[0], call.results[1]
    seed, offset = call.results[6], call.results[7]
    dropout = float(call.arg(3, "dropout_p", 0.0))
    batch, heads, queries, head = query.size()
    call.born(out)
    call.born(sums)
    parts = []
    if dropout == 0:
        block = 256 if head <= 64 else 128 if head <= 128 else 64
        count = _splits(call, batch * heads * -(-queries // 64), -(-key.size(2) // block))
        if 1 < count:
            rows = count * batch * heads * queries * FLOAT
            parts = [call.take(rows), call.take(rows * _rounded_head(call, head))]
    if call.kernels.version < (2, 6):
        call.on_host(seed, offset)
        call.born()
        call.give(*reversed(parts))
        return
    # The state of the generator is replaced where there is dropout.
    before = call.take(16) if dropout else None
    if before is None:
        call.born(seed)
    call.born(offset)
    call.born(seed)
    call.give(before, *parts)


@rule("_scaled_dot_product_flash_attention_backward", source=FLASH, case="attention-causal")
def _flash_backward(call: Call) -> None:
    grad, query, key, _, out = call.args[:5]
    batch, heads, queries, head = query.size()
    rows = up(queries, 128)
    copies = [call.take(bytes_of(one)) for one in (grad, out) if not one.transpose(1, 2).is_contiguous()]
    call.born()
    delta = call.take(batch * heads * rows * FLOAT)
    wide = batch * rows * heads * _rounded_head(call, head) * FLOAT
    if torch.are_deterministic_algorithms_enabled():
        wide *= -(-call.kernels.gpu.processors // (batch * heads))
    sums = call.take(wide)
    each = []
    if heads != key.size(1):
        # Each query head has its own gradients, which are added up.
        each = [call.take(batch * key.size(2) * heads * head * key.element_size()) for _ in range(2)]
    call.give(*reversed(each), sums, delta, *reversed(copies))


@rule("_scaled_dot_product_efficient_attention", source=EFFICIENT, case="attention")
def _efficient(call: Call) -> None:
    query, _, value = call.args[:3]
    out, sums, seed, offset = call.results
    dropout = float(call.arg(5, "dropout_p", 0.0))
    if dropout or call.kernels.version < (2, 10):
        call.on_host(seed, offset)
    else:
        call.born(seed)
        call.born(offset)
    call.born(out)
    call.born(sums)
    if query.element_size() == 2 and 128 < max(query.size(-1), value.size(-1)):
        call.pass_by(out.numel() * FLOAT)


@rule("_scaled_dot_product_efficient_attention_backward", source=EFFICIENT, case="attention")
def _efficient_backward(call: Call) -> None:
    grad, query, key, value = call.args[:4]
    batch, heads, queries, _ = query.size()
    copy = None if grad.transpose(1, 2).is_contiguous() else call.take(bytes_of(grad))
    call.born()
    each = []
    if heads != key.size(1):
        each = [
            call.take(batch * key.size(2) * heads * one.size(3) * one.element_size()) for one in (key, value)
        ]
    rows = batch * heads * queries * FLOAT
    if query.dtype == torch.float32:
        product = call.take(batch * heads * queries * value.size(3) * FLOAT)
        delta = call.take(rows)
        if 1 < heads and 1 < queries:
            turned, delta = delta, call.take(rows)
            call.give(turned)
        call.give(product)
    else:
        delta = call.take(rows)
    sums = call.take(batch * heads * _work(call, query, key, value))
    call.give(delta, sums, *reversed(each), copy)


def _work(call: Call, query: Any, key: Any, value: Any) -> int:
    """Bytes in which a head's gradients are added up."""
    queries, head, deep = query.size(2), query.size(3), value.size(3)
    widest = max(head, deep)
    is_half = query.element_size() == 2
    is_new = (8, 0) <= call.kernels.gpu.capability
    if widest <= 64 or (not is_half and not is_new):
        return -(-queries // 64) * -(-head // 64) * (64 * 64 * FLOAT + 16)
    wide = 128 if is_half and is_new and widest <= 128 else 64
    work = -(-queries // 128) * -(-head // wide) * (128 * wide * FLOAT + 16)
    if is_half and 128 < widest:
        work += up(key.size(2), 64) * (up(head, 128) + up(deep, 128)) * FLOAT
    return work
