"""The allocator's history: switched on for as long as a recording lasts, left alone if it runs already."""

from __future__ import annotations

import inspect
from typing import Any

from ._options import Options


def is_running(torch: Any) -> bool:
    """Whether the allocator keeps a history, whoever switched it on."""
    is_enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(is_enabled and is_enabled())


class History:
    """The history of this process's allocator."""

    def __init__(self, torch: Any, options: Options) -> None:
        self._torch = torch
        self._options = options
        self.is_ours = False
        self.settings: dict[str, Any] = {}

    def start(self) -> None:
        """Switches the history on, unless the program did so itself: then its settings stay, and so does what it has."""
        if is_running(self._torch):
            return
        wanted: dict[str, Any] = {
            "enabled": "all",
            "context": self._options.context,
            "stacks": self._options.stacks,
            "max_entries": self._options.max_entries,
            # Marks of other threads than the one that starts the recording.
            "global_record_annotations": True,
        }
        record = self._torch.cuda.memory._record_memory_history
        known = inspect.signature(record).parameters
        self.settings = {name: value for name, value in wanted.items() if name in known}
        record(**self.settings)
        self.is_ours = True

    def stop(self) -> None:
        """Switches off what `start` switched on."""
        if self.is_ours:
            self.is_ours = False
            self._torch.cuda.memory._record_memory_history(enabled=None)

    def snapshot(self) -> dict[str, Any]:
        """What torch's own dump writes."""
        snapshot: dict[str, Any] = self._torch.cuda.memory._snapshot()
        return snapshot
