"""The functions that open, list, move and remove files, over an overlay.

What goes through Python is caught: `open`, `os`, `shutil`, `pathlib`, `tempfile`, and what is built on them; tables of Arrow, too. What
else a library writes in C++ by itself is not.
"""

from __future__ import annotations

import builtins
import errno
import io
import multiprocessing.context
import multiprocessing.spawn
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .._after_import import after_import
from .overlay import Overlay
from .patches import Patches

# Where this package is found.
PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def catch_files(patches: Patches, overlay: Overlay) -> None:
    """Has all files that are written from now on be written to the overlay."""
    calls = _Calls(overlay)
    for owner in (builtins, io):
        patches.put(owner, "open", calls.open)
    for name, is_write in (
        ("stat", False),
        ("lstat", False),
        ("access", False),
        ("statvfs", False),
        ("readlink", False),
        ("chmod", True),
        ("utime", True),
        ("truncate", True),
    ):
        patches.put(os, name, calls.on_existing(getattr(os, name), is_write))
    for name, call in (
        ("open", calls.os_open),
        ("listdir", calls.listdir),
        ("scandir", calls.scandir),
        ("chdir", calls.chdir),
        ("mkdir", calls.mkdir),
        ("rmdir", calls.rmdir),
        ("remove", calls.unlink),
        ("unlink", calls.unlink),
        ("rename", calls.rename),
        ("replace", calls.rename),
        ("link", calls.link),
        ("symlink", calls.symlink),
    ):
        patches.put(os, name, call)
    patches.put(shutil, "rmtree", calls.rmtree)
    # Copies that the system makes would need real files on both sides.
    patches.put(shutil, "_USE_CP_SENDFILE", False)
    # Nothing there is the user's, and some of it is removed by functions that were looked up long ago.
    patches.put(tempfile, "tempdir", overlay.root)
    after_import("pyarrow", lambda: _catch_arrow(patches, overlay))
    _catch_spawned(patches, overlay)


def keep_apart(root: str, writable: list[str]) -> None:
    """Has this process, which the program started, write where the program does."""
    catch_files(Patches(), Overlay(root, writable))


def _catch_spawned(patches: Patches, overlay: Overlay) -> None:
    """Processes that begin anew instead of as forks catch files before anything of the program runs in them."""
    command_line = multiprocessing.spawn.get_command_line

    def catching(**arguments: Any) -> list[str]:
        command = list(command_line(**arguments))
        if "-c" not in command:
            # A program that was frozen starts itself.
            return command
        at = command.index("-c") + 1
        command[at] = (
            f"import os, sys; os.environ['CUDA_VISIBLE_DEVICES'] = ''; sys.path.insert(0, {PACKAGES!r}); "
            f"from {__name__} import keep_apart; del sys.path[0]; "
            f"keep_apart({overlay.root!r}, {overlay.writable!r}); {command[at]}"
        )
        return command

    patches.put(multiprocessing.spawn, "get_command_line", catching)
    # A server that forks others for the program was started by another command.
    kinds = multiprocessing.context
    if hasattr(kinds, "ForkServerProcess"):
        patches.put(kinds.ForkServerProcess, "_Popen", staticmethod(kinds.SpawnProcess._Popen))


def _catch_arrow(patches: Patches, overlay: Overlay) -> None:
    """Tables of data sets are opened in C++: a cache that was just written is in the overlay."""
    arrow = sys.modules["pyarrow"]

    def opened_apart(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, mode: str | None = None, *more: Any, **options: Any) -> Any:
            is_read = mode in (None, "r", "rb")
            place = overlay.found(path) if is_read else overlay.target(path, keeps="w" not in str(mode))
            return real(place, mode or "r", *more, **options)

        return call

    for name in ("memory_map", "OSFile"):
        patches.put_if_there(arrow, name, opened_apart(getattr(arrow, name)))


class _Calls:
    """The functions in place of those of the system."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay
        self._io = io.open
        self._open, self._mkdir, self._rmdir, self._unlink = os.open, os.mkdir, os.rmdir, os.unlink
        self._scandir, self._replace, self._symlink = os.scandir, os.replace, os.symlink
        self._chdir = os.chdir

    def open(self, file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
        overlay = self._overlay
        if options.get("opener") is not None or not isinstance(mode, str):
            return self._io(file, mode, *more, **options)
        if not set(mode) & set("wax+"):
            return self._io(overlay.found(file), mode, *more, **options)
        whole = overlay.whole(file)
        is_new = whole is not None and not overlay.is_there(whole)
        if "x" in mode and not is_new and whole is not None:
            raise FileExistsError(errno.EEXIST, "File exists", whole)
        # One that is missing raises what it raises.
        is_missing = is_new and "r" in mode
        target = overlay.found(file) if is_missing else overlay.target(file, keeps="w" not in mode)
        return self._io(target, mode, *more, **options)

    def os_open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            is_written = bool(flags & WRITES)
            keeps = not flags & os.O_TRUNC
            path = self._overlay.target(path, keeps) if is_written else self._overlay.found(path)
        return self._open(path, flags, mode, dir_fd=dir_fd)

    def on_existing(self, real: Callable[..., Any], is_write: bool) -> Callable[..., Any]:
        """A function of what there is at a path."""

        def call(path: Any, *more: Any, **options: Any) -> Any:
            if options.get("dir_fd") is None:
                path = self._overlay.target(path, keeps=True) if is_write else self._overlay.found(path)
            return real(path, *more, **options)

        return call

    def listdir(self, path: Any = ".") -> list[Any]:
        return self._overlay.names(path)

    def scandir(self, path: Any = ".") -> Any:
        if self._overlay.whole(path) is None:
            return self._scandir(path)
        return _Entries([_Entry(self._overlay, path, name) for name in self._overlay.names(path)])

    def chdir(self, path: Any) -> None:
        """Into a folder of the disk, beside whose files others may be kept apart, or into one that is only here."""
        whole = self._overlay.whole(path)
        is_on_disk = whole is None or (self._overlay.exists(whole) and not self._overlay.is_gone(whole))
        self._chdir(path if is_on_disk else self._overlay.found(path))

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        overlay = self._overlay
        whole = overlay.whole(path, dir_fd)
        if whole is None:
            self._mkdir(path, mode, dir_fd=dir_fd)
            return
        if overlay.is_there(whole):
            raise FileExistsError(errno.EEXIST, "File exists", whole)
        if not overlay.is_folder(os.path.dirname(whole)):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", whole)
        overlay.make_above(overlay.apart(whole))
        self._mkdir(overlay.apart(whole), mode)
        overlay.written.setdefault(whole)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        whole = self._overlay.whole(path, dir_fd)
        if whole is None:
            self._rmdir(path, dir_fd=dir_fd)
            return
        if self._overlay.names(whole):
            raise OSError(errno.ENOTEMPTY, "Directory not empty", whole)
        self._overlay.remove(whole)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        whole = self._overlay.whole(path, dir_fd)
        if whole is None:
            self._unlink(path, dir_fd=dir_fd)
            return
        self._require(whole)
        self._overlay.remove(whole)

    def rmtree(self, path: Any, ignore_errors: bool = False, *_: Any, **__: Any) -> None:
        whole = self._overlay.whole(path)
        if whole is None:
            self._overlay.clear(os.path.abspath(os.fsdecode(path)))
            return
        if not ignore_errors:
            self._require(whole)
        self._overlay.remove(whole)

    def rename(self, src: Any, dst: Any, **_: Any) -> None:
        overlay = self._overlay
        old, new = overlay.whole(src), overlay.whole(dst)
        found = str(overlay.found(src))
        if old is not None:
            self._require(old)
        target = overlay.target(dst, keeps=False)
        if old is None or found == overlay.apart(old):
            self._replace(found, target)
        else:
            overlay.copy(found, target)
        if old is not None and old != new:
            overlay.remove(old)

    def link(self, src: Any, dst: Any, **_: Any) -> None:
        self._overlay.copy(str(self._overlay.found(src)), self._overlay.target(dst, keeps=False))

    def symlink(self, src: Any, dst: Any, *_: Any, **__: Any) -> None:
        whole = self._overlay.whole(dst) or os.fsdecode(dst)
        if self._overlay.exists(self._overlay.apart(whole)):
            raise FileExistsError(errno.EEXIST, "File exists", whole)
        source = self._overlay.found(os.path.join(os.path.dirname(whole), os.fsdecode(src)))
        self._symlink(source, self._overlay.target(dst, keeps=False))

    def _require(self, whole: str) -> None:
        if not self._overlay.is_there(whole):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", whole)


class _Entry:
    """An entry of a folder, as `os.scandir` gives them."""

    def __init__(self, overlay: Overlay, folder: Any, name: Any) -> None:
        self._overlay = overlay
        self.name = name
        self.path = os.path.join(folder, name)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self.path) if follow_symlinks else os.lstat(self.path)

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self.stat(follow_symlinks=follow_symlinks).st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISREG(self.stat(follow_symlinks=follow_symlinks).st_mode)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self.stat(follow_symlinks=False).st_mode)

    def is_junction(self) -> bool:
        return False

    def __fspath__(self) -> Any:
        return self.path


class _Entries:
    """What `os.scandir` returns."""

    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Any:
        return self._entries

    def __next__(self) -> _Entry:
        return next(self._entries)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open."""
