"""Recurrent networks as a device computes them step by step: with cells that are one operator, where torch without memory takes another
path. It is that of torch without cuDNN; cuDNN keeps as much for the gradient, in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

# Casts arguments as autocast does, by the name of a function.
Cast = Callable[[str, tuple[Any, ...]], tuple[Any, ...]]
Cell = Callable[[Any, Any, Any], Any]


def lstm_cell(cast: Cast, tensor: Any, state: Any, weights: Any) -> Any:
    """A step: the new state and the new memory."""
    into, over, *more = weights
    own, other = _gates(cast, tensor, into, state[0], over)
    biases = more[:2] if len(more) >= 2 else [None, None]
    found = torch.ops.aten._thnn_fused_lstm_cell(
        *cast("_thnn_fused_lstm_cell", (own, other, state[1], *biases))
    )
    result, memory = found[0], found[1]
    if len(more) in (1, 3):
        result = torch.matmul(*cast("matmul", (result, more[-1].t())))
    return result, memory


def gru_cell(cast: Cast, tensor: Any, state: Any, weights: Any) -> Any:
    """A step: the new state."""
    into, over, *more = weights
    own, other = _gates(cast, tensor, into, state, over)
    biases = more if more else [None, None]
    return torch.ops.aten._thnn_fused_gru_cell(*cast("_thnn_fused_gru_cell", (own, other, state, *biases)))[0]


def _gates(cast: Cast, tensor: Any, into: Any, state: Any, over: Any) -> tuple[Any, Any]:
    own = torch.matmul(*cast("matmul", (tensor, into.t())))
    return own, torch.matmul(*cast("matmul", (state, over.t())))


def lstm(cast: Cast, *args: Any) -> Any:
    """`torch.lstm`, for sequences of one length or packed ones."""
    sequence, sizes, state, weights, setting = _arguments(args)
    states = [(one, other) for one, other in zip(state[0].unbind(0), state[1].unbind(0))]
    has_projection = state[0].size(2) != state[1].size(2)
    count = (4 if setting.has_biases else 2) + (1 if has_projection else 0)
    result, last = _layers(cast, lstm_cell, sequence, sizes, states, weights, count, setting)
    return (
        setting.turned(result),
        torch.stack([one[0] for one in last], 0),
        torch.stack([one[1] for one in last], 0),
    )


def gru(cast: Cast, *args: Any) -> Any:
    """`torch.gru`, for sequences of one length or packed ones."""
    sequence, sizes, state, weights, setting = _arguments(args)
    count = 4 if setting.has_biases else 2
    result, last = _layers(cast, gru_cell, sequence, sizes, list(state.unbind(0)), weights, count, setting)
    return setting.turned(result), torch.stack(last, 0)


class Setting:
    """What a network is like."""

    def __init__(
        self, has_biases: bool, layers: int, dropout: float, train: bool, bidirectional: bool, first: bool
    ) -> None:
        self.has_biases = has_biases
        self.layers = layers
        self.dropout = dropout if train else 0.0
        self.directions = 2 if bidirectional else 1
        self.is_batch_first = first

    def turned(self, sequence: Any) -> Any:
        return sequence.transpose(0, 1) if self.is_batch_first else sequence


def _arguments(args: Any) -> tuple[Any, Any, Any, Any, Setting]:
    if isinstance(args[3], bool):
        sequence, state, weights, *more = args
        setting = Setting(*more)
        return setting.turned(sequence), None, state, weights, setting
    data, sizes, state, weights, has_biases, layers, dropout, train, bidirectional = args
    setting = Setting(has_biases, layers, dropout, train, bidirectional, False)
    return data, sizes.tolist(), state, weights, setting


def _layers(
    cast: Cast,
    cell: Any,
    sequence: Any,
    sizes: Any,
    states: list[Any],
    weights: Any,
    count: int,
    setting: Setting,
) -> tuple[Any, list[Any]]:
    last = []
    for layer in range(setting.layers):
        outs = []
        steps: Sequence[Any] = sequence.unbind(0) if sizes is None else _Packed(sequence, sizes)
        for direction in range(setting.directions):
            at = layer * setting.directions + direction
            own = weights[at * count : (at + 1) * count]
            out, state = _run(cast, cell, steps, states[at], own, direction == 1)
            outs.append(torch.stack(out, 0) if sizes is None else torch.cat(out, 0))
            last.append(state)
            del out
        del steps
        sequence = torch.cat(outs, -1) if 1 < len(outs) else outs[0]
        del outs
        if setting.dropout and layer < setting.layers - 1:
            sequence = torch.native_dropout(sequence, setting.dropout, True)[0]
    return sequence, last


class _Packed(Sequence[Any]):
    """The steps of packed sequences, each taken out as it is asked for: its gradient is as large as all of them."""

    def __init__(self, data: Any, sizes: list[int]) -> None:
        self._data = data
        self._parts = [(sum(sizes[:step]), size) for step, size in enumerate(sizes)]

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, step: Any) -> Any:
        return self._data.narrow(0, *self._parts[step])


def _run(
    cast: Cast, cell: Any, steps: Sequence[Any], state: Any, weights: Any, is_reverse: bool
) -> tuple[list[Any], Any]:
    out: list[Any] = []
    ended: list[Any] = []
    whole = state
    if is_reverse and steps:
        # The last steps have the sequences alone that are long enough.
        state = _part(state, 0, steps[-1].size(0))
    for tensor in reversed(steps) if is_reverse else steps:
        rows = _rows(state)
        if rows > tensor.size(0):
            # Sequences that are over keep their state.
            ended.append(_part(state, tensor.size(0), rows))
            state = _part(state, 0, tensor.size(0))
        elif rows < tensor.size(0):
            state = _joined([state, _part(whole, rows, tensor.size(0))])
        state = cell(cast, tensor, state, weights)
        out.append(state[0] if isinstance(state, tuple) else state)
    if ended:
        state = _joined([state, *reversed(ended)])
    return (out[::-1] if is_reverse else out), state


def _rows(state: Any) -> int:
    return int((state[0] if isinstance(state, tuple) else state).size(0))


def _part(state: Any, start: int, end: int) -> Any:
    if isinstance(state, tuple):
        return tuple(one[start:end] for one in state)
    return state[start:end]


def _joined(states: list[Any]) -> Any:
    if isinstance(states[0], tuple):
        return tuple(torch.cat(list(ones), 0) for ones in zip(*states))
    return torch.cat(states, 0)
