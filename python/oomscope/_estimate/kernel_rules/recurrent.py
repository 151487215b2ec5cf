"""Cells of recurrent networks: what is kept for the gradient comes first."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels import Call, rule, written

RNN = "aten/src/ATen/native/cuda/RNN.cu; recorded with torch 2.15, 2.9, 2.4"


@rule("_thnn_fused_lstm_cell", source=RNN, case="lstm")
def _lstm_cell(call: Call) -> None:
    call.born(call.results[2])


@rule("_thnn_fused_gru_cell", source=RNN, case="gru")
def _gru_cell(call: Call) -> None:
    call.born(call.results[1])


@written("_thnn_fused_lstm_cell", source=RNN, case="lstm-bare")
def _lstm_cell_without_bias(
    own: Any, other: Any, memory: Any, bias: Any = None, other_bias: Any = None
) -> Any:
    """Without memory torch asks a bias that is not there for its device, before 2.10."""
    del own, other_bias
    if bias is not None:
        return NotImplemented
    kept = torch.empty_like(other, memory_format=torch.contiguous_format)
    result, state = (torch.empty_like(memory, memory_format=torch.contiguous_format) for _ in range(2))
    return result, state, kept
