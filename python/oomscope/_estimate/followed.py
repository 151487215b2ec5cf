"""What a program starts beside itself: threads and loaders, which belong to the estimate, too."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch

from .engine import Engine


def follow_threads(engine: Engine) -> None:
    """Modes belong to a thread; what a program starts is under them, too."""
    start = threading.Thread.start

    def start_followed(thread: threading.Thread) -> None:
        run = thread.run

        def followed() -> None:
            with engine.dispatch, engine.functions:
                run()

        thread.run = followed  # type: ignore[method-assign]
        start(thread)

    engine.patches.put(threading.Thread, "start", start_followed)


def follow_loaders(engine: Engine, saw_batches: Callable[[int | None], None]) -> None:
    """Loaders run for real, but pin no memory, for which there is no device."""
    loader = torch.utils.data.DataLoader
    begin = loader.__iter__

    def begin_unpinned(self: Any) -> Any:
        self.pin_memory = False
        sampler = getattr(self, "batch_sampler", None)
        saw_batches(self.batch_size or getattr(sampler, "batch_size", None))
        return begin(self)

    engine.patches.put(loader, "__iter__", begin_unpinned)


def end_workers() -> None:
    """Workers end before the folder that they use is gone. A loader would take that for a failure, and raise."""
    children = multiprocessing.active_children()
    if children and hasattr(signal, "SIGCHLD"):
        with suppress(ValueError):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for child in children:
        child.kill()
        child.join()
