"""The files of a recording: written whole or not at all, never over another, and bounded in number and bytes.

Only files that this recording wrote are ever removed, the oldest first.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ._sizes import show_size


class NoRoom(Exception):
    """A file does not fit, whatever else is removed."""


@dataclass(frozen=True)
class Written:
    """A file of this recording."""

    path: Path
    size_bytes: int
    is_kept: bool


class Store:
    """The directory that a recording writes to."""

    def __init__(self, directory: str | os.PathLike[str], max_files: int, max_bytes: int) -> None:
        # Where the program was started: some programs change the directory later.
        self.directory = Path(directory).expanduser().absolute()
        self.files: list[Written] = []
        self._max_files = max(1, max_files)
        self._max_bytes = max_bytes

    def check(self) -> None:
        """Makes the directory; raises where nothing can be written, hours before something is."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if not os.access(self.directory, os.W_OK):
            raise PermissionError(f"{self.directory} cannot be written")

    def write(self, name: str, fill: Callable[[_Bounded], None], is_kept: bool = False) -> Path:
        """Writes a file; one that is kept is never removed for a later one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        while self._max_files <= len(self.files):
            self._remove_oldest(f"{self._max_files} files are kept already")
        partial = self.directory / f".{name}.{uuid.uuid4().hex[:8]}.partial"
        try:
            with open(partial, "xb") as file:
                bounded = _Bounded(file, self._make_room)
                fill(bounded)
            path = self._place(partial, name)
        finally:
            partial.unlink(missing_ok=True)
        self.files.append(Written(path, bounded.size_bytes, is_kept))
        return path

    def remove(self, path: Path) -> None:
        """Removes a file of this recording; another one stays."""
        for file in self.files:
            if file.path == path:
                self.files.remove(file)
                path.unlink(missing_ok=True)
                return

    def _place(self, partial: Path, name: str) -> Path:
        """Gives a finished file its name, or one with a number if there is such a file."""
        stem, suffix = os.path.splitext(name)
        number = 1
        while True:
            path = self.directory / (name if number == 1 else f"{stem}_{number}{suffix}")
            try:
                # Taken by an empty file first: renaming would replace another one.
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                number += 1
                continue
            try:
                os.replace(partial, path)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            return path

    def _make_room(self, size_bytes: int) -> None:
        while self._max_bytes < size_bytes + sum(file.size_bytes for file in self.files):
            self._remove_oldest(f"more than {show_size(self._max_bytes)} would be on the disk")

    def _remove_oldest(self, otherwise: str) -> None:
        oldest = next((file for file in self.files if not file.is_kept), None)
        if oldest is None:
            raise NoRoom(f"{otherwise}; max_files and max_bytes say how much may be")
        self.remove(oldest.path)


class _Bounded:
    """A file that asks for room before it grows."""

    def __init__(self, file: BinaryIO, make_room: Callable[[int], None]) -> None:
        self._file = file
        self._make_room = make_room
        self.size_bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> int:
        self.size_bytes += memoryview(data).nbytes
        self._make_room(self.size_bytes)
        return self._file.write(data)
