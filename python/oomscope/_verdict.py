"""The verdict of `oomscope report`, in a few lines. The call is bounded: a large file must not keep a job alive."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ._messages import say
from ._program import find_program

# A file of a gigabyte takes about ten seconds on a busy node; a job that has ended waits no longer than this.
TIMEOUT_S = 30.0


def print_verdict(path: Path) -> None:
    """Prints what the report begins with, if the program is installed."""
    program = find_program()
    if program is None:
        return
    try:
        done = subprocess.run(
            [str(program), "report", str(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        say(f"no verdict within {TIMEOUT_S:.0f} s; `oomscope report {path}` takes longer")
        return
    # First comes the file, then the verdict in a paragraph of its own.
    parts = done.stdout.strip().split("\n\n") if done.returncode == 0 else []
    lines = parts[1].splitlines() if 1 < len(parts) else []
    for line in lines:
        say(line)
    if lines:
        say(f"more: oomscope report {path}")
