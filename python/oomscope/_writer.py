"""Snapshots as files: what they are called, and that only one is written at a time."""

from __future__ import annotations

import contextlib
import gc
import math
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._census import census
from ._facts import Facts, facts_of
from ._history import History
from ._marks import Marks
from ._messages import harmless, say
from ._options import Options
from ._pace import Pace
from ._rank import find_rank
from ._redaction import Redaction
from ._sizes import show_size
from ._store import Store

# The newest that every PyTorch viewer reads; Python 3.14 would write 5.
PICKLE_PROTOCOL = 4

# Who holds what is asked where the program stands still, and for so long at most.
HELD_AT = ("oom", "signal", "asked")
HOLDERS_S = 2.0


class Writer:
    """Writes the snapshots of a recording."""

    def __init__(
        self, torch: Any, history: History, marks: Marks, options: Options, redaction: Redaction | None
    ) -> None:
        self.store = Store(options.directory, options.max_files, options.max_bytes)
        self.pace = Pace()
        self._torch = torch
        self._history = history
        self._marks = marks
        self._has_census = options.census
        self._redaction = redaction
        self._started = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        # Held while a file is written, or none must be. A signal or an exit may come while this thread writes.
        self.lock = threading.RLock()
        self._is_writing = False
        self._written_s = -math.inf

    def written_since_s(self) -> float:
        """The seconds since a file was written."""
        return time.monotonic() - self._written_s

    def write(
        self, reason: str, step: int | None, is_kept: bool = False, more: Facts | None = None
    ) -> Path | None:
        """Writes a snapshot, after the one that another thread writes; `None` while this thread writes one itself."""
        with self.lock:
            if self._is_writing:
                return None
            self._is_writing = True
            start_s = time.monotonic()
            try:
                return self._write(reason, step, is_kept, more)
            finally:
                self._is_writing = False
                self.pace.took(time.monotonic() - start_s)

    def _write(self, reason: str, step: int | None, is_kept: bool, more: Facts | None) -> Path:
        rank, world = find_rank()
        with _without_collector():
            # Before the snapshot, which is millions of objects more.
            taken = self._census(reason)
            taken_us = time.time_ns() // 1000
            snapshot = self._history.snapshot()
            self._marks.complete(snapshot)
            facts = facts_of(self._torch, self._history.settings, rank, world)
            facts.update({"reason": reason, "step": step, "taken_us": taken_us}, **taken, **(more or {}))
            snapshot["oomscope"] = facts
            path = self.store.write(
                _name(self._started, rank, step, reason),
                lambda file: pickle.dump(snapshot, file, protocol=PICKLE_PROTOCOL),
                is_kept,
            )
        self._written_s = time.monotonic()
        say(f"wrote {path} ({show_size(path.stat().st_size)})")
        return path

    def _census(self, reason: str) -> Facts:
        """The tensors, with their names and who holds them; nothing where that fails."""
        if self._has_census:
            with harmless("naming tensors"):
                holders_s = HOLDERS_S if reason in HELD_AT else 0.0
                return {"census": census(self._torch, holders_s=holders_s, redaction=self._redaction)}
        return {}


def _name(started: str, rank: int, step: int | None, reason: str) -> str:
    """`oomscope ranks` takes the number after the word *rank*."""
    at = "" if step is None else f"_step{step}"
    return f"{started}_rank{rank}{at}_{reason}.pickle"


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """The collector would free what the snapshot shows, and go through millions of new objects again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
