"""The optimizer's steps as a clock, for programs that do not say where a step ends.

Of several optimizers the first one counts, as long as it lives.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable
from typing import Any

from ._messages import harmless


class OptimizerClock:
    """Calls a function after each step of the program's first optimizer."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._first: weakref.ref[Any] | None = None
        # Not reached as an attribute: torch.optim deletes the name.
        optimizers = importlib.import_module("torch.optim.optimizer")
        self._handle: Any = optimizers.register_optimizer_step_post_hook(self._after_step)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def _after_step(self, optimizer: Any, *_: Any) -> None:
        with harmless("counting steps"):
            if self._first is None or self._first() is None:
                self._first = weakref.ref(optimizer)
            if self._first() is optimizer:
                self._tick()
