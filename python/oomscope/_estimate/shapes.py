"""Results of operators that torch cannot make without memory, or makes of others although a device has a kernel for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Shape = Callable[..., Any]


def register() -> Any:
    """Adds what this torch lacks, until the library is destroyed."""
    library = torch.library.Library("aten", "IMPL")
    for name, shape in SHAPES.items():
        try:
            is_known = torch._C._dispatch_has_kernel_for_dispatch_key("aten::" + name, "Meta")
        except RuntimeError:
            # This version has no such operator.
            continue
        if not is_known:
            # `Library.impl` refuses operators that torch takes apart elsewhere.
            library.m.impl(name, "Meta", shape)
    return library


def _like_second(_: Any, tensor: Any) -> Any:
    return torch.empty_like(tensor)


def _rms_norm(tensor: Any, shape: Any, weight: Any, eps: Any) -> Any:
    del weight, eps
    kept = tensor.dim() - len(shape)
    sizes = [*tensor.size()[:kept], *[1] * len(shape)]
    wide = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    return torch.empty_like(tensor), tensor.new_empty(sizes, dtype=wide)


def _efficient(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    needs_sums: bool,
    dropout: float = 0.0,
    causal: bool = False,
    *,
    scale: Any = None,
) -> Any:
    batch, heads, queries, _ = query.size()
    rows = -(-queries // 32) * 32 if needs_sums else 0
    out = query.new_empty((batch, queries, heads, value.size(-1))).transpose(1, 2)
    number = query.new_empty((), dtype=torch.int64)
    return out, query.new_empty((batch, heads, rows), dtype=torch.float32), number, torch.empty_like(number)


def _flash(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    debug: bool = False,
    *,
    scale: Any = None,
) -> Any:
    batch, heads, queries, _ = query.size()
    out = torch.empty_like(query.transpose(1, 2)).transpose(1, 2)
    sums = query.new_empty((batch, heads, queries), dtype=torch.float32)
    number = query.new_empty((), dtype=torch.int64)
    nothing = query.new_empty((0,))
    empty = query.new_empty((0,), dtype=torch.int32)
    return (
        out,
        sums,
        empty,
        torch.empty_like(empty),
        queries,
        key.size(2),
        number,
        torch.empty_like(number),
        nothing,
    )


def _gru_cell(gates: Any, hidden: Any, state: Any, bias: Any = None, other: Any = None) -> Any:
    return torch.empty_like(state, memory_format=torch.contiguous_format), gates.new_empty(
        (state.size(0), state.size(1) * 5)
    )


def _gru_cell_backward(grad: Any, workspace: Any, has_bias: bool) -> Any:
    batch, width = grad.size()
    gates = workspace.new_empty((batch, 3 * width))
    hidden = workspace.new_empty((batch, 3 * width))
    state = workspace.new_empty((batch, width))
    if not has_bias:
        return gates, hidden, state, None, None
    return gates, hidden, state, workspace.new_empty((3 * width,)), workspace.new_empty((3 * width,))


def _ctc(
    probabilities: Any,
    targets: Any,
    lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    infinite: bool = False,
) -> Any:
    batch = probabilities.size(1)
    width = targets.size(1) if targets.dim() == 2 else targets.size(0) // max(batch, 1)
    return probabilities.new_empty((batch,)), probabilities.new_empty(
        (batch, probabilities.size(0), 2 * width + 1)
    )


def _ctc_backward(grad: Any, probabilities: Any, *_: Any) -> Any:
    return torch.empty_like(probabilities, memory_format=torch.contiguous_format)


SHAPES: dict[str, Shape] = {
    "mish_backward": _like_second,
    "silu_backward": _like_second,
    "_fused_rms_norm": _rms_norm,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_flash_attention": _flash,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_ctc_loss.Tensor": _ctc,
    "_ctc_loss_backward": _ctc_backward,
    "_ctc_loss_backward.Tensor": _ctc_backward,
}
