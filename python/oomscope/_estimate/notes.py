"""What an estimate could not know, and what stands for it: each once, with the line of the program and how often."""

from __future__ import annotations

import os
import sys
from types import FrameType

from .stacks import OWN

MAX_NOTES = 300

# What every program asks for that prints its loss.
NUMBER = "a number of the device is asked for: 1"

LIBRARIES = ("site-packages", "dist-packages")

STANDARD = os.path.dirname(os.__file__) + os.sep


class Notes:
    """Notes by what and where."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, what: str) -> None:
        """Notes something about the line of the program that is under way."""
        key = (what, own_line(sys._getframe(1)))
        if key in self._counts or len(self._counts) < MAX_NOTES:
            self._counts[key] = self._counts.get(key, 0) + 1

    def as_list(self) -> list[dict[str, object]]:
        """All of them, in the order in which they came up."""
        return [
            {"what": what, "where": where, "count": count} for (what, where), count in self._counts.items()
        ]


def is_own(frame: FrameType) -> bool:
    """Whether code is the program's: not this package's, Python's or a library's, unless it is what is run."""
    name = frame.f_code.co_filename
    if name.startswith(("<", OWN, STANDARD)):
        return False
    # Libraries have programs, too, such as `-m trl.scripts.sft`.
    return frame.f_globals.get("__name__") == "__main__" or not any(part in name for part in LIBRARIES)


def own_line(frame: FrameType | None) -> str:
    """The innermost line of the program."""
    while frame is not None:
        if is_own(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
