"""Steps and phases as marks in the recording: named ranges, and metadata of events where this torch has it.

torch keeps the ranges of `record_function` in snapshots since 2.6; before that, they are kept here, and written as torch
would. It has metadata of events since 2.12 at the latest. They belong to a thread; what the program has there stays.
"""

from __future__ import annotations

import collections
import threading
import time
from typing import Any

from ._messages import harmless
from ._metadata import Metadata
from ._redaction import Redaction

# Ranges of steps and phases that are kept; two lines each.
MAX_ANNOTATIONS = 20_000


class Marks:
    """The marks of a recording. Every call is harmless."""

    def __init__(self, torch: Any, redaction: Redaction | None = None) -> None:
        self._torch = torch
        self._annotations: collections.deque[dict[str, Any]] = collections.deque(maxlen=MAX_ANNOTATIONS)
        self._metadata = Metadata(torch)
        self._redaction = redaction
        self._step: int | None = None
        self._step_range: Any = None
        self._ours = threading.local()

    def begin_step(self, number: int) -> None:
        """Ends the step that was marked before, and begins the next."""
        with harmless("marking a step"):
            self.end_step()
            self._step = number
            self._step_range = self._enter(f"step_{number}")
            self._describe()

    def end_step(self) -> None:
        """Ends the marked step; between steps nothing is marked."""
        with harmless("marking a step"):
            opened, self._step_range, self._step = self._step_range, None, None
            self._exit(opened)
            self._describe()

    def begin_phase(self, name: str) -> Any:
        """Begins a phase in this thread, within those that it is in; gives what `end_phase` needs."""
        with harmless("marking a phase"):
            phases = self._phases()
            phases.append(name)
            self._describe()
            return self._enter(name)
        return None

    def end_phase(self, opened: Any) -> None:
        """Ends the innermost phase of this thread."""
        with harmless("marking a phase"):
            self._exit(opened)
            phases = self._phases()
            if phases:
                phases.pop()
            self._describe()

    @property
    def has_metadata(self) -> bool:
        """Whether this torch keeps metadata of events."""
        return self._metadata.is_known

    @property
    def module(self) -> str | None:
        """The path of the module that runs in this thread."""
        return getattr(self._ours, "module", None)

    def enter_module(self, path: str | None) -> None:
        """Says which module runs in this thread from now on."""
        self._ours.module = path
        self._describe()

    def complete(self, snapshot: dict[str, Any]) -> None:
        """Adds the ranges to a snapshot of a torch that keeps none."""
        if self._annotations:
            snapshot.setdefault("external_annotations", list(self._annotations))

    def _enter(self, name: str) -> Any:
        self._note("START", name)
        opened = self._torch.profiler.record_function(name)
        opened.__enter__()
        return opened

    def _exit(self, opened: Any) -> None:
        if opened is not None:
            opened.__exit__(None, None, None)
            self._note("END", opened.name)

    def _note(self, stage: str, name: str) -> None:
        device = self._torch.cuda.current_device()
        now_us = time.time_ns() // 1000
        self._annotations.append({"stage": stage, "name": name, "device": device, "time_us": now_us})

    def _phases(self) -> list[str]:
        if not hasattr(self._ours, "phases"):
            self._ours.phases = []
        phases: list[str] = self._ours.phases
        return phases

    def _describe(self) -> None:
        """Sets this thread's metadata to its step, phase and module."""
        phases = self._phases()
        self._metadata.set(
            step=self._step, phase=phases[-1] if phases else None, module=self.said(self.module)
        )

    def said(self, path: str | None) -> str | None:
        """The path of a module as it is written."""
        return path if path is None or self._redaction is None else self._redaction.hide(path)
