"""The cost of recording, measured: allocations per second with and without a history, and the time of a snapshot."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from typing import Any

from ._history import is_running
from ._sizes import show_size

# Enough for a tenth of a second; the best of three leaves out what else the machine does.
PAIRS = 20_000
ROUNDS = 3
# Frames of Python above an allocation in a training step: loop, step, model, blocks, layers.
DEPTH = 12


def measure(torch: Any) -> Iterator[str]:
    """Sentences about the cost. A history that the program has is left alone."""
    if is_running(torch):
        yield "not measured: a history is being recorded"
        return
    record = torch.cuda.memory._record_memory_history
    # Since 2.9, torch imports its compiler to name the lines of compiled code, once there is a stack.
    yield f"{_first_snapshot(torch, 'python'):.1f} s for what the first snapshot of a process imports"
    yield f"{_first_snapshot(torch, 'all'):.1f} s for the symbols that the first one with C++ stacks reads"
    without_s = _allocate(torch)
    yield f"{_rate(without_s)} allocations/s without a history"
    for stacks, what in (("python", "Python stacks"), ("all", "Python and C++ stacks")):
        record(enabled="all", context="all", stacks=stacks, max_entries=2 * PAIRS)
        try:
            with_s = _allocate(torch)
            extra_us = 1e6 * (with_s - without_s) / PAIRS
            yield f"{_rate(with_s)} with {what}: {extra_us:.1f} µs more for each, of {DEPTH} frames"
            start = time.perf_counter()
            snapshot = torch.cuda.memory._snapshot()
            size = len(pickle.dumps(snapshot, protocol=4))
            took = time.perf_counter() - start
            yield f"a snapshot of {2 * PAIRS:,} events then takes {took:.2f} s and {show_size(size)}"
        finally:
            record(enabled=None)


def _first_snapshot(torch: Any, stacks: str) -> float:
    """Seconds for a snapshot of one allocation: nearly all of them are what is done once in a process."""
    record = torch.cuda.memory._record_memory_history
    record(enabled="all", context="all", stacks=stacks, max_entries=PAIRS)
    try:
        _tensor = torch.empty(1024, device="cuda")
        start = time.perf_counter()
        torch.cuda.memory._snapshot()
        return time.perf_counter() - start
    finally:
        record(enabled=None)


def _rate(seconds: float) -> str:
    return f"{PAIRS / seconds:,.0f}"


def _allocate(torch: Any) -> float:
    """Seconds for allocating and freeing, below some frames of Python."""
    return min(_below(torch, DEPTH) for _ in range(ROUNDS))


def _below(torch: Any, depth: int) -> float:
    if 1 < depth:
        return _below(torch, depth - 1)
    start = time.perf_counter()
    for _ in range(PAIRS):
        torch.empty(1024, device="cuda")
    return time.perf_counter() - start
