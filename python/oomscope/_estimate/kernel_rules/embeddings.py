"""Embeddings: their gradients sort the indexes, and add up rows in parts."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, bytes_of, rule, written
from .cub import place_bytes, scan_bytes, select_bytes, sort_bytes, unique_bytes
from .sorting import sort_temporaries

EMBEDDING = (
    "aten/src/ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu; recorded with torch 2.15, 2.9, 2.4"
)
BAG = "aten/src/ATen/native/cuda/EmbeddingBag.cu; recorded with torch 2.15, 2.9, 2.4"

# Fewer indexes than these are added up one by one.
FEW = 3072

# How many indexes each part of a row's gradient has.
PART = 10


@rule("embedding_dense_backward", source=EMBEDDING, case="embedding")
def _embedding(call: Call) -> None:
    grad, indexes, rows, _padding, is_scaled = call.args[:5]
    copies = [call.take(bytes_of(one)) for one in (grad, indexes) if not one.is_contiguous()]
    if indexes.numel() <= FEW and not is_scaled:
        call.born()
    else:
        _by_rows(call, grad, indexes, rows, is_scaled)
    call.give(*reversed(copies))


@rule("_embedding_bag_dense_backward", source=BAG, case="embedding_bag")
def _bag(call: Call) -> None:
    """`max` has no more than its result."""
    grad, indexes = call.args[:2]
    rows, is_scaled, mode = call.args[5:8]
    copy = None if grad.is_contiguous() else call.take(bytes_of(grad))
    if mode != 2 and indexes.numel():
        _by_rows(call, grad, indexes, rows, is_scaled)
    else:
        call.born()
    call.give(copy)


def _by_rows(call: Call, grad: Any, indexes: Any, rows: int, is_scaled: bool) -> None:
    count, index, kernels = indexes.numel(), indexes.element_size(), call.kernels
    is_new = (2, 10) <= kernels.version
    many = count * index
    ordered, origins = call.take(many), call.take(many)
    call.pass_by(many, sort_bytes(kernels, count, index, index, rows.bit_length() if is_new else None))
    counts = None
    if is_scaled:
        counts = call.take(many)
        call.each([place_bytes(kernels, count, index)] * 2)
    call.born()
    starts, number = call.take(many), call.take(8)
    call.pass_by(many, unique_bytes(kernels, count, index))
    segments = min(count, rows)
    parts, offsets = call.take(segments * index), call.take(segments * index)
    call.pass_by(scan_bytes(kernels, segments, index))
    total = call.take(8)
    most = count // PART + segments
    begins = call.take(most * index)
    is_bag = call.func._schema.name != "aten::embedding_dense_backward"
    if is_new and not is_bag and rows < 4 * kernels.gpu.processors and 4 * rows < most:
        # Few rows with many indexes each are added up without parts.
        owners = call.take(most * index)
        call.pass_by(rows * grad.size(-1) * 4 if grad.element_size() == 2 else 0)
        call.give(owners)
    else:
        call.pass_by(most * grad.size(-1) * max(4, grad.element_size()))
    call.give(begins, total, offsets, parts, number, starts, counts, origins, ordered)


@rule(
    "embedding_renorm_",
    source="embedding_renorm_cuda_, by its C++ stacks, recorded with torch 2.15, 2.9, 2.4",
    case="embedding-norm",
)
def _renorm(call: Call) -> None:
    """Indexes are sorted, so that each is seen once."""
    indexes = call.args[1]
    many = bytes_of(indexes)
    own = call.take(many) if (2, 10) <= call.kernels.version else None
    ordered, places = call.take(many), call.take(indexes.numel() * 8)
    # Old versions sort each row.
    sort_temporaries(call, indexes, indexes.numel() if own is not None else indexes.size(-1))
    call.give(places)
    unique, number = call.take(many), call.take(8)
    call.pass_by(select_bytes(call.kernels, indexes.numel(), indexes.element_size()))
    call.give(number, unique, ordered, own)


@written("_embedding_bag_backward", source=BAG, case="embedding_bag")
def _embedding_bag_backward(
    grad: Any,
    indexes: Any,
    offsets: Any,
    owners: Any,
    sizes: Any,
    best: Any,
    rows: int,
    is_scaled: bool,
    mode: int,
    is_sparse: bool,
    weights: Any,
    padding: int = -1,
) -> Any:
    """Without memory torch has one operator for what a device takes apart."""
    del offsets
    if is_sparse:
        return NotImplemented
    return torch.ops.aten._embedding_bag_dense_backward(
        grad, indexes, owners, sizes, best, rows, is_scaled, mode, weights, padding
    )


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
