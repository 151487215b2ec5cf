"""A signal that asks for a snapshot. The handler that was there before still runs, and is put back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from ._messages import harmless


class SignalTrigger:
    """Calls a function when a signal arrives. Python allows handlers in the main thread only."""

    def __init__(self, number: int, ask: Callable[[], None]) -> None:
        self._number = number
        self._ask = ask
        self._previous: Any = None
        self._is_installed = False

    def install(self) -> None:
        """Listens, if this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._previous = signal.signal(self._number, self._handle)
        self._is_installed = True

    def restore(self) -> None:
        """Puts the former handler back, unless somebody else has replaced this one meanwhile."""
        if not self._is_installed or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(self._number) == self._handle:
            # A handler that was not set from Python reads as None, and cannot be set again.
            signal.signal(self._number, signal.SIG_DFL if self._previous is None else self._previous)
        self._is_installed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        with harmless("writing a snapshot on a signal"):
            self._ask()
        if callable(self._previous):
            self._previous(number, frame)
