"""Words to the user, and failures that must not reach the training."""

from __future__ import annotations

import contextlib
import logging
import sys
from types import TracebackType

_logger = logging.getLogger("oomscope")
_warned: set[str] = set()


def say(text: str) -> None:
    """Prints a line on standard error, if there is one."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RuntimeError):
        print(f"oomscope: {text}", file=sys.stderr, flush=True)


def warn_once(about: str, text: str) -> None:
    """Warns, the first time that something is wrong with `about`. The log is used, as it never raises."""
    if about not in _warned:
        _warned.add(about)
        _logger.warning("oomscope: %s", text)


class harmless(contextlib.AbstractContextManager["harmless"]):
    """Turns an exception into a warning; Ctrl+C and exits pass."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        warn_once(self._doing, f"{self._doing} failed: {type(error).__name__}: {error}")
        return True
