"""Files that are being written: hidden, and locked for as long as their process lives, so that what a killed one left behind
is known by its open lock.
"""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# Windows has no such locks: there, nobody can remove a file that is open.
if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def create(directory: Path, name: str) -> Iterator[BinaryIO]:
    """A new unfinished file; nothing is left of it unless it was renamed."""
    path = directory / f".{name}.{uuid.uuid4().hex[:8]}.partial"
    try:
        with open(path, "xb") as file:
            # Some file systems have no locks. Then this file is taken for one that is still written, for ever.
            with contextlib.suppress(OSError):
                _lock(file)
            yield file
    finally:
        path.unlink(missing_ok=True)


def sweep(directory: Path, rank: int) -> list[Path]:
    """Removes what killed processes of this rank left behind; returns what may still be written."""
    found = directory.glob(f".*_rank{rank}_*.partial")
    return [path for path in found if path.is_file() and not _is_removed(path)]


def size_bytes(path: Path) -> int:
    """The bytes of an unfinished file; none once it is finished."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_removed(path: Path) -> bool:
    try:
        if sys.platform != "win32":
            with open(path, "r+b") as file:
                _lock(file)
        path.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _lock(file: BinaryIO) -> None:
    """Raises where another process holds the lock, or where there are none."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
