"""Autocast, which torch applies to tensors of a device before autograd: the same operators, types and cache here.

The lists are those of torch's `aten/src/ATen/autocast_mode.h`. What torch casts inside an operator that is made of others is cast before it.
"""

from __future__ import annotations

from typing import Any

import torch

LOWER = frozenset(
    [
        "_convolution",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "convolution",
        "prelu",
        "addmm",
        "addmv",
        "addr",
        "matmul",
        "__matmul__",
        "__rmatmul__",
        "einsum",
        "mm",
        "mv",
        "linalg_vecdot",
        "linear",
        "addbmm",
        "baddbmm",
        "bmm",
        "chain_matmul",
        "linalg_multi_dot",
        "_thnn_fused_lstm_cell",
        "_thnn_fused_gru_cell",
        "lstm_cell",
        "gru_cell",
        "rnn_tanh_cell",
        "rnn_relu_cell",
        "lstm",
        "gru",
        "rnn_tanh",
        "rnn_relu",
        "scaled_dot_product_attention",
    ]
)
FULL = frozenset(
    [
        "acos",
        "asin",
        "cosh",
        "erfinv",
        "exp",
        "exp_",
        "expm1",
        "log",
        "log10",
        "log2",
        "log1p",
        "reciprocal",
        "rsqrt",
        "sinh",
        "tan",
        "pow",
        "__pow__",
        "__rpow__",
        "softplus",
        "layer_norm",
        "native_layer_norm",
        "rms_norm",
        "group_norm",
        "frobenius_norm",
        "nuclear_norm",
        "cosine_similarity",
        "poisson_nll_loss",
        "cosine_embedding_loss",
        "nll_loss",
        "nll_loss_nd",
        "nll_loss2d",
        "hinge_embedding_loss",
        "kl_div",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "mse_loss",
        "margin_ranking_loss",
        "multilabel_margin_loss",
        "soft_margin_loss",
        "triplet_margin_loss",
        "multi_margin_loss",
        "binary_cross_entropy_with_logits",
        "dist",
        "pdist",
        "cdist",
        "renorm",
        "logsumexp",
        "upsample_nearest1d",
        "_upsample_nearest_exact1d",
        "upsample_nearest2d",
        "_upsample_nearest_exact2d",
        "upsample_nearest3d",
        "_upsample_nearest_exact3d",
        "upsample_linear1d",
        "upsample_bilinear2d",
        "_upsample_bilinear2d_aa",
        "upsample_trilinear3d",
        "upsample_bicubic2d",
        "_upsample_bicubic2d_aa",
    ]
)
# These make their results in 32 bits, of what they take as it is.
FULL_RESULT = frozenset(
    [
        "prod",
        "softmax",
        "log_softmax",
        "cumprod",
        "cumsum",
        "linalg_vector_norm",
        "linalg_matrix_norm",
        "sum",
        "norm",
        "vector_norm",
    ]
)
WIDEST = frozenset(
    [
        "addcdiv",
        "addcmul",
        "atan2",
        "bilinear",
        "cross",
        "dot",
        "grid_sampler",
        "index_put",
        "scatter_add",
        "inner",
        "tensordot",
        "vdot",
    ]
)

# What is widened.
NARROW = (torch.float16, torch.bfloat16)


class Autocast:
    """Casts as torch does where autocast is on."""

    def __init__(self) -> None:
        self._cache: dict[int, tuple[Any, Any]] = {}

    def forget(self) -> None:
        """The outermost region ends."""
        self._cache.clear()

    @staticmethod
    def is_on() -> bool:
        return bool(torch.is_autocast_enabled())

    def cast(self, name: str, args: Any, kwargs: Any, eligible: Any) -> tuple[Any, Any]:
        """The arguments of a function as autocast would have them."""
        if name in LOWER:
            wanted = torch.get_autocast_gpu_dtype()
        elif name in FULL:
            wanted = torch.float32
        elif name in WIDEST:
            wanted = self._widest(args, kwargs, eligible)
        elif name in FULL_RESULT:
            return self._with_type(name, args, kwargs, eligible)
        else:
            return args, kwargs

        def cast(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return self._cast(value, wanted) if eligible(value) else value
            return type(value)([cast(one) for one in value]) if type(value) in (list, tuple) else value

        # The compiler that torch is built with evaluates arguments from the last to the first.
        later = {key: cast(value) for key, value in reversed(kwargs.items())}
        return tuple(reversed([cast(value) for value in reversed(args)])), later

    def _cast(self, tensor: Any, wanted: Any) -> Any:
        if tensor.dtype == wanted or tensor.dtype == torch.float64 or not tensor.is_floating_point():
            return tensor
        is_kept = (
            wanted in NARROW
            and tensor.dtype == torch.float32
            and tensor.requires_grad
            and tensor.is_leaf
            and not tensor._is_view()
            and torch.is_autocast_cache_enabled()
        )
        if not is_kept:
            return tensor.to(wanted)
        known = self._cache.get(id(tensor))
        if known is None:
            # The tensor is kept, so that no other gets its id.
            known = self._cache[id(tensor)] = (tensor, tensor.to(wanted))
        return known[1]

    @staticmethod
    def _widest(args: Any, kwargs: Any, eligible: Any) -> Any:
        kinds = {
            one.dtype
            for one in torch.utils._pytree.tree_leaves((args, kwargs))
            if isinstance(one, torch.Tensor) and eligible(one)
        }
        return torch.float32 if torch.float32 in kinds or not kinds else torch.get_autocast_gpu_dtype()

    def _with_type(self, name: str, args: Any, kwargs: Any, eligible: Any) -> tuple[Any, Any]:
        first = args[0] if args else kwargs.get("input", kwargs.get("self"))
        if not isinstance(first, torch.Tensor) or not eligible(first) or first.dtype not in NARROW:
            return args, kwargs
        if name in ("softmax", "log_softmax") and 2 < len(args) and args[2] is not None:
            return args, kwargs
        if kwargs.get("dtype") is None:
            kwargs = {**kwargs, "dtype": torch.float32}
        return args, kwargs
