"""How often a recording may write by itself."""

from __future__ import annotations

import time

# Of the time since the recording began: what a user does not notice in the time of a job.
MOST_OF_TIME = 0.1


class Pace:
    """The time that writing has taken, as a part of all time. Before the first file it has taken none."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._writing_s = 0.0

    def has_time(self) -> bool:
        """Whether writing has taken no more than its part."""
        return self._writing_s <= MOST_OF_TIME * (time.monotonic() - self._began_s)

    def took(self, seconds: float) -> None:
        """Notes that a file was written."""
        self._writing_s += seconds
