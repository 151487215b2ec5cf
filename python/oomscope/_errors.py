"""What goes wrong when the program is asked about a snapshot, and what it says beside an answer."""

from __future__ import annotations


class OomscopeError(Exception):
    """There is no answer: the message says why, `hint` what to do about it, in the words of the program where it has some."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class OomscopeWarning(UserWarning):
    """There is an answer, and something to know about it: a file that is damaged, figures that are lower bounds."""
