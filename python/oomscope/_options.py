"""The options of a recording. One that cannot be read is left at its default, with a warning."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass

from ._messages import warn_once
from ._sizes import parse_size

# Tens of training steps. An event takes up to 1.2 KB of the host's memory while it is kept: 600 MB for each rank.
MAX_ENTRIES = 500_000
# For each rank of a run: what a scratch directory bears when eight ranks fail at once.
MAX_FILES = 8
MAX_BYTES = 8 * 2**30


@dataclass(frozen=True)
class Options:
    """What is recorded, when it is written, and how much of the disk it may take."""

    directory: str = "snapshots"
    oom: bool = True
    signal: int | None = None
    after_steps: int | None = None
    on_peak_bytes: int | None = None
    at_end: bool | None = None
    max_entries: int = MAX_ENTRIES
    stacks: str = "all"
    context: str = "all"
    max_files: int = MAX_FILES
    max_bytes: int = MAX_BYTES
    verdict: bool = True
    census: bool = True
    ranks: bool = True
    redact: bool = False
    modules: bool = False


def read_signal(name: str | int | None) -> int | None:
    """The number of a signal: `SIGUSR2`, `USR2` or the number itself; `None` where this system has no such signal."""
    if name is None or isinstance(name, int):
        return name
    upper = name.upper()
    found = getattr(signals, upper if upper.startswith("SIG") else f"SIG{upper}", None)
    if found is None:
        warn_once("signal", f"this system has no signal {name}")
    return None if found is None else int(found)


def read_bytes(option: str, size: int | str | None, default: int | None) -> int | None:
    """The bytes of a size, or the default if it is none."""
    if size is None:
        return default
    try:
        return parse_size(size)
    except (TypeError, ValueError) as error:
        warn_once(option, f"{option} is left out: {error}")
        return default


def read_choice(option: str, value: str, known: tuple[str, ...]) -> str:
    """A value that torch knows, or the first of those."""
    if value in known:
        return value
    warn_once(option, f"{option} is one of {', '.join(known)}, not {value!r}")
    return known[0]
