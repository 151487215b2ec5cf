"""A folder in place of every other for what a program writes: it reads back what it has written, and the disk stays as it is."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tempfile
import threading
from collections.abc import Iterable
from typing import Any

# Files up to this size are copied where a program adds to them or moves them.
MAX_COPIED = 64 << 20

# What is no file of the user's.
SYSTEM = ("/dev/", "/proc/", "/sys/")


class Overlay:
    """What was written and removed, by whole paths."""

    def __init__(self, root: str | None = None, writable: Iterable[str] = ()) -> None:
        # Processes of the program share the folder of the first one.
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="oomscope-estimate-")) if root is None else root
        # Folders in which the disk is as it is.
        self.writable = [os.path.realpath(folder) for folder in writable]
        self._gone: set[str] = set()
        # What would have been written, in order, each once.
        self.written: dict[str, None] = {}
        # The thread that ends the estimate: it alone has the disk as it is.
        self._real_thread: int | None = None
        # The system's own functions, whatever stands in their place.
        self._lstat, self._stat, self._mkdir, self._list = os.lstat, os.stat, os.mkdir, os.listdir
        self._unlink, self._rmdir, self._open = os.unlink, os.rmdir, io.open

    def clean(self) -> None:
        """Removes what was written."""
        with contextlib.suppress(OSError):
            self.clear(self.root)

    def end(self) -> None:
        """This thread has the disk as it is from now on; whatever else runs does not."""
        self._real_thread = threading.get_ident()

    def is_off(self) -> bool:
        """Whether this thread has the disk as it is."""
        return self._real_thread == threading.get_ident()

    def whole(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The whole path, if it is one that is kept apart."""
        if isinstance(path, int) or self.is_off():
            return None
        name = os.fsdecode(path)
        if dir_fd is not None:
            name = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), name)
        whole = os.path.abspath(name)
        is_real = whole.startswith(SYSTEM) or any(
            whole == folder or whole.startswith(folder + os.sep) for folder in (self.root, *self.writable)
        )
        return None if is_real else whole

    def apart(self, whole: str) -> str:
        """Where a path is kept."""
        return self.root + os.sep + whole.replace(":", "").lstrip(os.sep)

    def exists(self, path: str) -> bool:
        """Whether the disk has a path."""
        try:
            self._lstat(path)
        except OSError:
            return False
        return True

    def is_there(self, whole: str) -> bool:
        """Whether the program sees something at a path."""
        return self.exists(self.apart(whole)) or (not self.is_gone(whole) and self.exists(whole))

    def is_folder(self, path: Any) -> bool:
        """Whether the program sees a folder at a path."""
        return stat.S_ISDIR(self._stat(self.found(path)).st_mode)

    def is_gone(self, whole: str) -> bool:
        """Whether the program removed a path of the disk, or a folder above it."""
        while whole not in self._gone:
            above = os.path.dirname(whole)
            if above == whole:
                return False
            whole = above
        return True

    def found(self, path: Any) -> Any:
        """Where a path is read from: what was written, else what there was, if it was not removed."""
        whole = self.whole(path)
        if whole is None:
            return path
        apart = self.apart(whole)
        # As nothing has this name, the system's own error is raised.
        return apart if self.exists(apart) or self.is_gone(whole) else path

    def target(self, path: Any, keeps: bool) -> Any:
        """Where a path is written to; with what there was, if the writer keeps that."""
        whole = self.whole(path)
        if whole is None:
            return path
        apart = self.apart(whole)
        self.written.setdefault(whole)
        if not self.exists(apart):
            # Raises what a missing folder raises.
            self._stat(self.found(os.path.dirname(whole)))
            self.make_above(apart)
            if keeps and not self.is_gone(whole) and self.exists(whole):
                self.copy(whole, apart)
        return apart

    def copy(self, source: str, target: str) -> None:
        """Copies the beginning of a file, or makes a folder like another."""
        if stat.S_ISDIR(self._stat(source).st_mode):
            self._mkdir(target)
            return
        with self._open(source, "rb") as old, self._open(target, "wb") as new:
            new.write(old.read(MAX_COPIED))

    def make_above(self, apart: str) -> None:
        """Makes the folders of a path that is kept apart."""
        above = os.path.dirname(apart)
        if not self.exists(above):
            self.make_above(above)
            self._mkdir(above)

    def names(self, path: Any) -> list[Any]:
        """What a folder has for the program."""
        whole = self.whole(path)
        if whole is None:
            return list(self._list(path))
        apart = self.apart(whole)
        names: dict[Any, None] = {}
        if not self.is_gone(whole) and (self.exists(whole) or not self.exists(apart)):
            names.update(dict.fromkeys(self._list(path)))
        if self.exists(apart):
            found = self._list(apart)
            names.update(dict.fromkeys(map(os.fsencode, found) if isinstance(path, bytes) else found))
        return [name for name in names if self.is_there(os.path.join(whole, os.fsdecode(name)))]

    def remove(self, whole: str) -> None:
        """Removes a path and all within it."""
        self.clear(self.apart(whole))
        if self.exists(whole):
            self._gone.add(whole)
            self.written.setdefault(whole)

    def clear(self, apart: str) -> None:
        """Removes a path of the overlay."""
        if not self.exists(apart):
            return
        if stat.S_ISDIR(self._lstat(apart).st_mode):
            for name in self._list(apart):
                self.clear(os.path.join(apart, name))
            self._rmdir(apart)
        else:
            self._unlink(apart)
