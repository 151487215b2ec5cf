"""The thread that ends an estimate. It is started before the program is refused to write, and so it alone may."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import NoReturn


class Ending:
    """A thread that waits for what it is told to do once. Python's own list of threads, which a program may look at, has it not."""

    def __init__(self) -> None:
        self._wanted, self._never = _thread.allocate_lock(), _thread.allocate_lock()
        self._wanted.acquire()
        self._never.acquire()
        self._last: Callable[[], NoReturn] | None = None
        _thread.start_new_thread(self._wait, ())

    def hand_over(self, last: Callable[[], NoReturn], interrupted: Callable[[], None]) -> NoReturn:
        """Has it do the last thing that is done in this process; this thread only waits to be interrupted from now on."""
        self._last = last
        self._wanted.release()
        while True:
            try:
                self._never.acquire()
            except KeyboardInterrupt:
                interrupted()

    def _wait(self) -> None:
        self._wanted.acquire()
        if self._last is not None:
            self._last()
