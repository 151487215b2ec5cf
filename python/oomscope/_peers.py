"""The other ranks of a job: when one fails, each of them leaves a file to compare, before its launcher ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from ._ending import Ending
from ._failures import Failures
from ._messages import harmless

# How often a rank looks whether another one has failed.
POLL_S = 0.5
# A job of more ranks leaves so many files, at equal distances.
MOST_RANKS = 64
# Failures that a rank answers with a file: one that a program survives may not be its last.
MOST_ANSWERS = 3


class Peers:
    """Listens in a thread of its own for as long as the recording lasts."""

    def __init__(self, directory: Path, rank: int, world: int, answer: Callable[[int | None], None]) -> None:
        """`answer` is called with the rank that failed, `None` where only the launcher says so, by SIGTERM."""
        self._rank = rank
        self._answer = answer
        self._answers = 0
        self._failures = Failures(directory, world)
        self._is_over = False
        self._ending: Ending | None = None
        stride = -(-world // MOST_RANKS)
        if rank % stride == 0:
            self._ending = Ending()
            thread = threading.Thread(
                target=self._listen, args=(self._ending,), name="oomscope peers", daemon=True
            )
            thread.start()
            self._ending.install(thread)

    def tell(self) -> None:
        """Says that this rank fails."""
        self._failures.tell(self._rank)

    def tell_if_first(self) -> None:
        """Says that this rank fails, unless it does so because another one did."""
        if not self._answers:
            self.tell()

    def end(self) -> None:
        """Listens no more."""
        self._is_over = True
        if self._ending is not None:
            self._ending.restore()
            self._ending.interrupt()

    def _listen(self, ending: Ending) -> None:
        while not self._is_over:
            is_ended = ending.wait(POLL_S)
            with harmless("answering another rank's failure"):
                self._hear(is_ended)
            if is_ended:
                ending.die()

    def _hear(self, is_ended: bool) -> None:
        rank = self._failures.hear()
        is_other = rank is not None and rank != self._rank and self._answers < MOST_ANSWERS
        if is_other or is_ended:
            self._answers += 1
            self._answer(rank if is_other else None)
