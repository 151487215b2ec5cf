"""SIGTERM in a job of several ranks: time to write a snapshot, then the end that it would have been.

A launcher sends it to the ranks that still live when one has failed. They mostly wait for that one in a collective, and a main
thread that waits in C runs no handler of Python's. So a thread is told: Python writes the number of each signal to a pipe at once.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from ._messages import harmless

NUMBER = signal.SIGTERM
_installed: weakref.WeakSet[Ending] = weakref.WeakSet()


class Ending:
    """SIGTERM, as a thread of ours hears it. A handler of the program stays, and what it does is done."""

    def __init__(self) -> None:
        self._heard, self._tell = os.pipe()
        if sys.platform != "win32":
            os.set_blocking(self._heard, False)
            os.set_blocking(self._tell, False)
        self._thread: threading.Thread | None = None
        self._is_asked = False

    def install(self, thread: threading.Thread) -> None:
        """Listens for `thread`, which calls `wait`. Nothing changes where the main thread is another, signals are already told to
        somebody else, or the program ignores SIGTERM."""
        self._thread = thread
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        found = signal.set_wakeup_fd(self._tell, warn_on_full_buffer=False)
        if found != -1:
            signal.set_wakeup_fd(found)
        elif signal.getsignal(NUMBER) == signal.SIG_DFL:
            signal.signal(NUMBER, self)
        _installed.add(self)

    def wait(self, seconds: float) -> bool:
        """Waits for SIGTERM, or for `interrupt`, so long at most. Whether SIGTERM has come."""
        if not hasattr(select, "poll"):
            time.sleep(seconds)
            return False
        # Unlike `select`, it takes any number of open files.
        poll = select.poll()
        poll.register(self._heard, select.POLLIN)
        if not poll.poll(1000 * seconds):
            return False
        with contextlib.suppress(BlockingIOError):
            return NUMBER in os.read(self._heard, 4096)
        return False

    def interrupt(self) -> None:
        """Lets `wait` return."""
        with contextlib.suppress(OSError):
            os.write(self._tell, b"\0")

    def die(self) -> None:
        """Ends the process as SIGTERM would have, unless the program has a handler: then that decides."""
        if self._is_asked or self._is_in_place():
            _restore_default()
            os.kill(os.getpid(), NUMBER)

    def restore(self) -> None:
        """Puts everything back that is still as `install` left it. The pipe stays: a signal may be on its way to it."""
        _installed.discard(self)
        if threading.current_thread() is not threading.main_thread():
            if self._is_in_place():
                _restore_default()
            return
        found = signal.set_wakeup_fd(-1)
        if found not in (-1, self._tell):
            signal.set_wakeup_fd(found)
        if self._is_in_place():
            signal.signal(NUMBER, signal.SIG_DFL)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The handler, which runs once the main thread comes back to Python."""
        self._is_asked = True
        if self._thread is not None and self._thread.is_alive():
            # Where somebody else has taken the pipe's place.
            with contextlib.suppress(OSError):
                os.write(self._tell, bytes([number]))
        else:
            self.die()

    def _is_in_place(self) -> bool:
        now: Any = signal.getsignal(NUMBER)
        return now is self


def _restore_default() -> None:
    """What `signal.signal` does, in any thread."""
    import ctypes

    restore: Callable[[int, None], Any] = ctypes.pythonapi.PyOS_setsig
    restore(NUMBER, None)


def _before_fork() -> None:
    """SIGTERM to the child waits until the handler that it inherits is gone."""
    _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, {NUMBER}) if _installed else None


def _after_fork() -> None:
    if _masks.before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, _masks.before)


def _after_fork_in_child() -> None:
    """A forked process, such as a worker of a DataLoader, ends as ever, and tells nobody."""
    for ending in list(_installed):
        with harmless("restoring the handler of a signal"):
            ending.restore()
    _after_fork()


_masks = threading.local()
if hasattr(os, "register_at_fork") and hasattr(signal, "pthread_sigmask"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
