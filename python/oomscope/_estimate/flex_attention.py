"""`flex_attention`: a fused kernel where a program compiles, else all scores, as torch does it then.

Torch would take it apart with tensors of its own that claim to be on a device. Here it is computed as torch's own source does.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import torch

from .._after_import import after_import
from .patches import Patches

PLACE = "torch.nn.attention.flex_attention"

# The switch by which torch calls the operator itself.
WITHOUT_COMPILER = "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"


class FlexAttention:
    """What stands for torch's operator."""

    def __init__(self) -> None:
        # Whether the program asked for a compiler.
        self.is_compiled = False

    def take_place(self, patches: Patches) -> None:
        """Has `flex_attention` call this one as soon as it is there; versions before 2.9 are left alone."""
        after_import(PLACE, lambda: self._patch(patches))

    def _patch(self, patches: Patches) -> None:
        place = importlib.import_module(PLACE)
        if not hasattr(place, WITHOUT_COMPILER):
            return
        patches.put(place, "flex_attention_hop", self._run)
        patches.put(place, WITHOUT_COMPILER, True)
        patches.put_if_there(place, "setup_compilation_env", _no_compiler)

    def _run(
        self, query: Any, key: Any, value: Any, score_mod: Any, mask: Any, scale: float, options: Any
    ) -> Any:
        if torch.is_autocast_enabled():
            kind = torch.get_autocast_gpu_dtype()
            query, key, value = (one.to(kind) for one in (query, key, value))
        with torch.autocast("cuda", enabled=False):
            if not self.is_compiled:
                return _WithScores.apply(query, key, value, score_mod, mask, scale)
            return _Fused.apply(query, key, value, bool(options.get("OUTPUT_MAX")))


@contextlib.contextmanager
def _no_compiler() -> Iterator[str]:
    yield "eager"


class _Fused(torch.autograd.Function):
    """The results of the kernels that torch/_inductor/kernel/flex makes, and what they keep."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any, has_most: bool) -> Any:
        out = query.new_empty((*query.size()[:-1], value.size(-1)))
        sums = query.new_empty(query.size()[:-1], dtype=torch.float32)
        ctx.save_for_backward(query, key, value, out, sums)
        most = torch.empty_like(sums) if has_most else query.new_empty(0)
        ctx.mark_non_differentiable(most)
        return out, sums, most

    @staticmethod
    def backward(ctx: Any, grad: Any, *_: Any) -> Any:
        query, key, value, _, sums = ctx.saved_tensors
        # What it takes beside its results: a number for each row.
        deltas = torch.empty_like(sums)
        found = tuple(torch.empty_like(one) for one in (query, key, value))
        del deltas
        return (*found, None)


class _WithScores(torch.autograd.Function):
    """What torch runs without a compiler: torch/_higher_order_ops/flex_attention.py."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any, score_mod: Any, mask: Any, scale: float) -> Any:
        source = importlib.import_module("torch._higher_order_ops.flex_attention")
        out, sums, most = source.sdpa_dense(query, key, value, score_mod, mask, scale, {})
        ctx.mark_non_differentiable(most)
        tensors = [one for one in mask if isinstance(one, torch.Tensor)]
        ctx.save_for_backward(query, key, value, out, sums, most, *tensors)
        ctx.more = score_mod, mask, scale
        return out, sums, most

    @staticmethod
    def backward(ctx: Any, grad: Any, grad_of_sums: Any, _: Any) -> Any:
        source = importlib.import_module("torch._higher_order_ops.flex_attention")
        query, key, value, out, sums, *_ = ctx.saved_tensors
        score_mod, mask, scale = ctx.more
        grads = source.sdpa_dense_backward(
            query, key, value, out, sums, grad, grad_of_sums, score_mod, _passed_on, mask, scale, {}, (), ()
        )
        return (*grads[:3], None, None, None)


def _passed_on(score: Any, batch: Any, head: Any, query: Any, key: Any, grad: Any) -> Any:
    """The gradient of a score that is not changed."""
    return [grad, None, None, None, None]
