"""The verdict in a notebook: nothing ends there when memory runs out, so it is said when the cell has failed.

IPython shows the traceback and goes on. It tells when a cell begins and ends, and what a cell raised that nobody caught.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._messages import harmless


class Notebook:
    """Listens to the cells of IPython, where there is one, from `start` to `stop`."""

    def __init__(self, find_last_oom: Callable[[], Path | None], tell: Callable[[Path], None]) -> None:
        """`find_last_oom` says which file the last failed request left, `tell` prints what there is to say of one."""
        self._find_last_oom = find_last_oom
        self._tell = tell
        self._shell: Any = None
        self._process = os.getpid()
        # As the cell began: the last file, and the last exception that was shown.
        self._before: Path | None = None
        self._shown_before = 0
        self._told: Path | None = None
        self._left: Path | None = None

    def start(self) -> None:
        """Listens from now on, also to the end of the cell that runs now. IPython is not imported where nobody has."""
        ipython = sys.modules.get("IPython")
        shell = None if ipython is None else ipython.get_ipython()
        if shell is not None:
            self._shown_before = _last_shown()
            shell.events.register("pre_run_cell", self._on_begin)
            shell.events.register("post_run_cell", self._on_end)
            self._shell = shell

    def stop(self) -> None:
        """Listens no more, but to the end of the cell whose verdict was left to it."""
        if self._shell is not None and self._left is None:
            shell, self._shell = self._shell, None
            shell.events.unregister("pre_run_cell", self._on_begin)
            shell.events.unregister("post_run_cell", self._on_end)

    def is_told(self, path: Path) -> bool:
        """Whether the verdict of this file was said, or will be at the end of the cell: below the traceback of the exception that
        ends the recording."""
        is_failing = sys.exc_info()[1] is not None
        if self._shell is not None and self._is_here() and is_failing and path != self._told:
            self._left = path
        return path in (self._told, self._left)

    def _is_here(self) -> bool:
        """Whether the cells are those of this process. A forked child inherits what listens to its parent's, and sees no end of one."""
        return self._process == os.getpid()

    def _on_begin(self, info: object) -> None:
        self._before = self._find_last_oom()
        self._shown_before = _last_shown()

    def _on_end(self, result: Any) -> None:
        if not self._is_here():
            return
        with harmless("asking for the verdict"):
            path = self._left or self._written_by(result)
            if path is not None:
                self._told = path
                self._tell(path)
        if self._left is not None:
            self._left = None
            with harmless("leaving the notebook"):
                self.stop()

    def _written_by(self, result: Any) -> Path | None:
        """The file that the cell left, if memory is what it ran out of."""
        path = self._find_last_oom()
        error = result.error_in_exec
        if error is None and _last_shown() != self._shown_before:
            # Before IPython 9, `%%time` shows it and goes on.
            error = sys.last_value
        return path if path not in (None, self._before, self._told) and _shows_oom(error) else None


def _last_shown() -> int:
    """The identity of the exception whose traceback was shown last. The exception itself would keep what its frames have."""
    return id(getattr(sys, "last_value", None))


def _shows_oom(error: BaseException | None) -> bool:
    """Whether the traceback of an exception shows that memory ran out: in itself or in one that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        # torch has had it in several places.
        if any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
