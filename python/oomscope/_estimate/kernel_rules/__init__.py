"""What CUDA's operators take beside their results, by family."""

from . import (
    attention,
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
