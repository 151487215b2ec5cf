"""Cells of recurrent networks: what is kept for the gradient comes first."""

from __future__ import annotations

from ..kernels import Call, rule

RNN = "aten/src/ATen/native/cuda/RNN.cu; recorded with torch 2.15, 2.9, 2.4"


@rule("_thnn_fused_lstm_cell", source=RNN, case="lstm")
def _lstm_cell(call: Call) -> None:
    call.born(call.results[2])


@rule("_thnn_fused_gru_cell", source=RNN, case="gru")
def _gru_cell(call: Call) -> None:
    call.born(call.results[1])
