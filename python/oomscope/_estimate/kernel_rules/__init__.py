"""What CUDA's operators take beside their results, by family."""

from . import (
    attention,
    batch_norm,
    convolution,
    distances,
    embeddings,
    encoder,
    gradients,
    images,
    indexing,
    losses,
    matmul,
    optimizers,
    recurrent,
    reductions,
    scans,
    sorting,
)

__all__ = [
    "attention",
    "batch_norm",
    "convolution",
    "distances",
    "embeddings",
    "encoder",
    "gradients",
    "images",
    "indexing",
    "losses",
    "matmul",
    "optimizers",
    "recurrent",
    "reductions",
    "scans",
    "sorting",
]
