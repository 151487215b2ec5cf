"""The system's own word that nothing is written: Linux refuses this thread, and all that it starts, to write anywhere but in a few folders.

Landlock is what Linux has had for this since 5.13 (landlock(7)). It needs no rights, and cannot be undone: what the estimate itself writes
at its end is left to a thread that was started before. Files of devices are refused, too, so that no driver is opened.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

# Numbers of the calls, which are the same for every processor that came after 2020; x86 and ARM are.
CREATE, ADD, RESTRICT = 444, 445, 446
PROCESSORS = ("x86_64", "aarch64")

VERSION_FLAG = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

# Rights, from landlock(7): to write to a file, to remove folders and files, and to make each kind of file.
WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))
# To move between folders, since version 2, and to cut off, since version 3.
MOVES, CUTS = 1 << 13, 1 << 14

# A rule over a file, not a folder, may name no other rights.
OF_FILES = 1 << 1 | CUTS

# What is written to without leaving anything.
SYSTEM = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
    "/proc",
)


def write_only_in(folders: Iterable[str]) -> bool:
    """Has this thread, and the threads and processes that it starts from now on, write only in these folders; returns whether the
    system sees to that."""
    if not sys.platform.startswith("linux") or platform.machine() not in PROCESSORS:
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    version = call(CREATE, None, ctypes.c_size_t(0), VERSION_FLAG)
    if version < 1:
        return False
    rights = WRITES | (MOVES if 2 <= version else 0) | (CUTS if 3 <= version else 0)
    asked = struct.pack("=Q", rights)
    rules = call(CREATE, asked, ctypes.c_size_t(len(asked)), 0)
    if rules < 0:
        return False
    try:
        for path in (*SYSTEM, *_outputs(), *folders):
            if os.path.exists(path) and not _allow(call, rules, path, rights):
                return False
        has_no_more = ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        return has_no_more and call(RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _outputs() -> Iterator[str]:
    """The files that standard output and standard error go to: /dev/stdout leads to them."""
    for handle in (1, 2):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(handle).st_mode):
                yield os.readlink(f"/proc/self/fd/{handle}")


def _allow(call: ctypes._FuncPointer, rules: int, path: str, rights: int) -> bool:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & OF_FILES, place)
        return bool(call(ADD, rules, PATH_BENEATH, rule, 0) == 0)
    finally:
        os.close(place)
