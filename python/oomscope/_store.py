"""The files of a recording: written whole or not at all, never over another, and bounded in number and bytes.

Only files that this recording wrote are ever removed, the oldest first, and only once a newer one is whole: a full disk, or a
snapshot that is too large, costs no earlier one. So for as long as a file is written, it is there besides the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from . import _partial
from ._messages import harmless
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
        # Of other processes of this rank: still being written, or not known to be left behind.
        self._unfinished: list[Path] = []

    def prepare(self, rank: int) -> None:
        """Makes the directory, and removes what killed processes of this rank left behind; raises where nothing can be
        written, hours before something is."""
        self.directory.mkdir(parents=True, exist_ok=True)
        if not os.access(self.directory, os.W_OK):
            raise PermissionError(f"{self.directory} cannot be written")
        self._unfinished = _partial.sweep(self.directory, rank)

    def write(self, name: str, fill: Callable[[_Bounded], None], is_kept: bool = False) -> Path:
        """Writes a file; one that is kept is never removed for a later one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        kept = [file.size_bytes for file in self.files if file.is_kept]
        if self._max_files <= len(kept):
            raise NoRoom(f"max_files is {self._max_files}, and as many are kept")
        taken_bytes = sum(kept) + self._unfinished_bytes()
        try:
            path, size_bytes = self._write(name, fill, taken_bytes)
        except FileNotFoundError:
            # Where locks reach no further than a node, another node's process may have taken the unfinished file for one
            # that was left behind. It does so once, when it starts.
            path, size_bytes = self._write(name, fill, taken_bytes)
        self.files.append(Written(path, size_bytes, is_kept))
        self._remove_oldest()
        return path

    def remove(self, path: Path) -> None:
        """Removes a file of this recording; another one stays."""
        for file in self.files:
            if file.path == path:
                path.unlink(missing_ok=True)
                self.files.remove(file)
                return

    def _write(self, name: str, fill: Callable[[_Bounded], None], taken_bytes: int) -> tuple[Path, int]:
        with _partial.create(self.directory, name) as file:
            bounded = _Bounded(file, taken_bytes, self._max_bytes)
            fill(bounded)
            file.close()
            return self._place(Path(file.name), name), bounded.size_bytes

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

    def _remove_oldest(self) -> None:
        """Removes what the newest file leaves no room for."""
        for file in self.files[:-1]:
            size_bytes = sum(file.size_bytes for file in self.files) + self._unfinished_bytes()
            if len(self.files) <= self._max_files and size_bytes <= self._max_bytes:
                return
            if not file.is_kept:
                with harmless("removing an earlier snapshot"):
                    self.remove(file.path)

    def _unfinished_bytes(self) -> int:
        return sum(map(_partial.size_bytes, self._unfinished))


class _Bounded:
    """A file that does not grow beyond the room that there is for it."""

    def __init__(self, file: BinaryIO, taken_bytes: int, max_bytes: int) -> None:
        self._file = file
        self._taken_bytes = taken_bytes
        self._max_bytes = max_bytes
        self.size_bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> int:
        self.size_bytes += memoryview(data).nbytes
        if self._max_bytes < self._taken_bytes + self.size_bytes:
            beside = f", beside {show_size(self._taken_bytes)} of kept and unfinished files"
            most = show_size(self._max_bytes)
            raise NoRoom(f"it does not fit into max_bytes, {most}{beside if self._taken_bytes else ''}")
        return self._file.write(data)
