"""A signal that asks for a snapshot. The handler that was there before still runs, and is put back."""

from __future__ import annotations

import atexit
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from ._messages import harmless, warn_once

# What these mean is up to programs: to one without a handler, a question asked too late should not be the end. Whoever sends
# another signal, such as SIGTERM, means what it does.
_QUESTIONS = [getattr(signal, name) for name in ("SIGUSR1", "SIGUSR2") if hasattr(signal, name)]


class SignalTrigger:
    """Calls a function when a signal arrives. Python allows handlers in the main thread only."""

    def __init__(self, number: int, ask: Callable[[], None]) -> None:
        self._number = number
        self._ask = ask
        self._handler: _Handler | None = None

    def install(self) -> None:
        """Listens from now on; warns where it cannot."""
        if _is_main_thread():
            self._handler = _Handler(self._ask, signal.getsignal(self._number))
            signal.signal(self._number, self._handler)
        else:
            name = signal.Signals(self._number).name
            warn_once("signal", f"{name} writes no snapshot: record() was not called in the main thread")

    def come_first(self) -> None:
        """Comes before a handler that the program installed after this one; that runs afterwards."""
        if self._handler is not None and _is_main_thread() and not self._is_in_place():
            # The program's handler may call the one that it found.
            self._handler.ask = None
            self.install()

    def restore(self) -> None:
        """Puts the former handler back, unless somebody else has replaced this one meanwhile."""
        if self._handler is not None and _is_main_thread() and self._is_in_place():
            # A handler that was not set from Python reads as None, and cannot be set again.
            found = signal.SIG_DFL if self._handler.found is None else self._handler.found
            is_deadly = found == signal.SIG_DFL and self._number in _QUESTIONS
            signal.signal(self._number, _Handler(None, found) if is_deadly else found)

    def _is_in_place(self) -> bool:
        now: Any = signal.getsignal(self._number)
        return now is self._handler


def spare(number: int) -> None:
    """Ignores the signal until somebody can be asked."""
    if _is_main_thread() and number in _QUESTIONS and signal.getsignal(number) == signal.SIG_DFL:
        signal.signal(number, _Handler(None, signal.SIG_DFL))


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class _Handler:
    """Asks, if it still should, and goes on to what was found in its place."""

    def __init__(self, ask: Callable[[], None] | None, found: Any) -> None:
        self.ask = ask
        self.found = found

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.ask is not None:
            with harmless("writing a snapshot on a signal"):
                self.ask()
        if callable(self.found):
            self.found(number, frame)
        elif self.found == signal.SIG_DFL and number not in _QUESTIONS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)


@atexit.register
def _ignore_to_the_end() -> None:
    """Python takes its handlers away long before a process with a device has ended."""
    with harmless("ignoring a signal"):
        for number in _QUESTIONS:
            handler: Any = signal.getsignal(number)
            is_own = isinstance(handler, _Handler)
            while isinstance(handler, _Handler):
                handler = handler.found
            if is_own and not callable(handler):
                signal.signal(number, signal.SIG_IGN)
