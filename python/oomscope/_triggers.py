"""When a recording writes: a failed request, a signal, a number of steps, a new peak, its end."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ._facts import Facts
from ._options import Options
from ._peers import Peers
from ._writer import Writer

# A file that is so new says what one written now would say, but for the occasion.
RECENT_S = 10.0

# Failed requests that are written even if writing has taken its part of the time: a program that tries again once has failed for good.
ALWAYS = 2


class Triggers:
    """Decides at each occasion whether a snapshot is due."""

    def __init__(self, torch: Any, options: Options, writer: Writer) -> None:
        self.last_oom: Path | None = None
        self.peers: Peers | None = None
        self._torch = torch
        self._options = options
        self._writer = writer
        self._one_thread = threading.RLock()
        self._ooms = 0
        self._first_oom: Path | None = None
        self._is_oom_missing = False
        self._peak_bytes = options.on_peak_bytes or 0

    def on_oom(self, step: int | None, device: int, requested: int, total: int, free: int) -> None:
        """Writes the first failed requests and the last. Of many in a row, as a search for a batch size makes them, some are
        left out for the sake of time; then what the last one left is written at the end."""
        with self._one_thread:
            self._ooms += 1
            self._is_oom_missing = True
            if self._ooms <= ALWAYS or self._writer.pace.has_time():
                if self.peers is not None:
                    self.peers.tell()
                asked = {
                    "device_index": device,
                    "requested_bytes": requested,
                    "total_bytes": total,
                    "free_bytes": free,
                }
                self._write_oom(step, {"oom": asked})

    def _write_oom(self, step: int | None, more: Facts) -> None:
        path = self._writer.write("oom", step, is_kept=self._ooms == 1, more=more)
        if path is None:
            return
        self._is_oom_missing = False
        before, self.last_oom = self.last_oom, path
        if before is not None and before != self._first_oom:
            self._writer.store.remove(before)
        self._first_oom = self._first_oom or path

    def on_peer(self, step: int | None, rank: int | None) -> None:
        """Another rank has failed, or the launcher ends this one: a file to compare, unless there is one as new."""
        with self._writer.lock:
            if self._writer.written_since_s() < RECENT_S:
                return
            if rank is None:
                self._writer.write("terminated", step)
            else:
                self._writer.write("other-rank", step, more={"failed_rank": rank})

    def on_step(self, step: int) -> None:
        """The end of a step; `step` is how many there were."""
        if step == self._options.after_steps:
            self._writer.write("steps", step)
        elif self._options.on_peak_bytes is not None:
            self._on_peak(step)

    def on_end(self, step: int | None) -> None:
        """The end of the recording: a file where there would be none, or where the last failed request has none."""
        with self._writer.lock:
            if self._is_oom_missing:
                self.last_oom = self._writer.write("after-oom", step) or self.last_oom
            elif self._options.at_end or (self._options.at_end is None and not self._writer.store.files):
                self._writer.write("end", step)

    def _on_peak(self, step: int) -> None:
        """Several new peaks in a row are one, written when there is time."""
        if not self._writer.pace.has_time():
            return
        cuda = self._torch.cuda
        peak = max((cuda.max_memory_allocated(device) for device in range(cuda.device_count())), default=0)
        if self._peak_bytes < peak:
            self._peak_bytes = peak
            self._writer.write("peak", step, more={"peak_bytes": peak})
