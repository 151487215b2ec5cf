"""What CUDA's operators take beside their results, by family."""

from . import (
    attention,
    batch_norm,
    convolution,
    embeddings,
    indexing,
    losses,
    matmul,
    optimizers,
    recurrent,
    reductions,
    scans,
)

__all__ = [
    "attention",
    "batch_norm",
    "convolution",
    "embeddings",
    "indexing",
    "losses",
    "matmul",
    "optimizers",
    "recurrent",
    "reductions",
    "scans",
]
