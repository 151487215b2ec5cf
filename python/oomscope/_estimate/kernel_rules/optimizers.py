"""Operators on lists of tensors, as optimizers use them. All but norms take nothing beside their results."""

from __future__ import annotations

from ..kernels import Call, rule

FOREACH = "aten/src/ATen/native/cuda/ForeachReduceOp.cu; recorded with torch 2.15, 2.9, 2.4"

# Elements that one block of threads adds up.
CHUNK = 65536


@rule("_foreach_norm", "_foreach_max", source=FOREACH, case="clip")
def _norm(call: Call) -> None:
    tensors = call.args[0]
    chunks = [-(-one.numel() // CHUNK) for one in tensors]
    if call.kernels.version >= (2, 10):
        taken = [call.take((len(tensors) + 1) * 8), call.take(sum(chunks) * 4)]
        call.born()
        call.give(*reversed(taken))
    else:
        taken = [call.take(len(tensors) * max(chunks, default=0) * 4)]
        call.born()
        call.give(*taken)
