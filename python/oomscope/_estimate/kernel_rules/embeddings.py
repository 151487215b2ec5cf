"""Embeddings: their gradients sort the indexes, and add up rows in parts. Exact but for the sort's own memory."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, rule, written
from .scans import scan_bytes

EMBEDDING = (
    "aten/src/ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu; recorded with torch 2.15, 2.9, 2.4"
)
BAG = "aten/src/ATen/native/cuda/EmbeddingBag.cu; recorded with torch 2.15"

INDEX = 8

# Fewer indexes than these are added up one by one.
FEW = 3072

# How many indexes each part of a row's gradient has.
PART = 10


def sort_bytes(count: int, width: int, also: int = 0) -> int:
    """What cub's radix sort asks for: a copy of what it sorts, and tables of its own, which depend on the architecture."""
    return count * (width + also) + 5_631 + count // 4


@rule("embedding_dense_backward", source=EMBEDDING, case="embedding")
def _embedding(call: Call) -> None:
    indexes, rows, _padding, is_scaled = call.args[1:5]
    if indexes.numel() <= FEW and not is_scaled:
        return
    _by_rows(call, indexes.numel(), rows, is_scaled, call.args[0].size(-1))


@rule("_embedding_bag_dense_backward", source=BAG, case="embedding_bag")
def _bag(call: Call) -> None:
    """`max` has no more than its result."""
    grad, indexes = call.args[:2]
    rows, is_scaled, mode = call.args[5:8]
    if mode != 2 and indexes.numel():
        _by_rows(call, indexes.numel(), rows, is_scaled, grad.size(-1))


def _by_rows(call: Call, count: int, rows: int, is_scaled: bool, width: int) -> None:
    many = count * INDEX
    ordered, origins = call.take(many), call.take(many)
    call.pass_by(many, sort_bytes(count, INDEX, INDEX))
    counts = None
    if is_scaled:
        counts = call.take(many)
        call.each((scan_bytes(count, 8), scan_bytes(count, 8)))
    call.born()
    starts, number = call.take(many), call.take(INDEX)
    call.pass_by(many, scan_bytes(count, 8))
    segments = min(count, rows)
    parts, offsets = call.take(segments * INDEX), call.take(segments * INDEX)
    call.pass_by(scan_bytes(segments, 8))
    total = call.take(INDEX)
    most = count // PART + segments
    begins = call.take(most * INDEX)
    sums = call.take(most * (-(-width // 32) * 32) * 4)
    call.give(sums, begins, total, offsets, parts, number, starts, counts, origins, ordered)


@written("_embedding_bag", "_embedding_bag_forward_only", source=BAG, case="embedding_bag")
def _embedding_bag(
    weight: Any,
    indexes: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Any:
    """Without memory torch computes it as the CPU does, which fails."""
    bags = offsets.size(0) - (1 if include_last_offset else 0)
    sizes = torch.empty_like(offsets) if bags == offsets.size(0) else offsets.new_empty((bags,))
    owners = indexes.new_empty((indexes.size(0),))
    result = weight.new_empty((bags, weight.size(1)))
    best = indexes.new_empty((bags, weight.size(1)) if mode == 2 else (0,))
    return result, owners, sizes, best
