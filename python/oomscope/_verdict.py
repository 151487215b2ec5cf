"""What `oomscope report` says first, below the exception. The call is bounded: a large file must not keep a job alive."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._messages import say
from ._program import find_program

# A file of a gigabyte takes about ten seconds on a busy node; a job that has ended waits no longer than this.
TIMEOUT_S = 30.0

# Characters of a terminal in a line. Longer lines of prose are hard to read.
WIDTH = 100


def print_verdict(path: Path) -> None:
    """Prints the verdict, its line of code, why, and what to change first, if the program is installed."""
    program = find_program()
    if program is None:
        return
    try:
        done = _ask(program, path, dict(os.environ))
        if done.returncode != 0:
            # Settings of the user that cannot be read must not keep the verdict.
            done = _ask(program, path, {**os.environ, "OOMSCOPE_CONFIG": ""})
    except subprocess.TimeoutExpired:
        say(f"no verdict within {TIMEOUT_S:.0f} s; `oomscope report {path}` takes longer")
        return
    if done.returncode == 0:
        for line in list(_lines(json.loads(done.stdout))):
            say(line)
        say(f"more: oomscope report {path}")


def _ask(program: Path, path: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(program), "report", "--format", "json", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
        env=environment,
    )


def _lines(report: dict[str, Any]) -> Iterator[str]:
    verdict = report["findings"][0]
    if verdict["id"] != "none":
        yield f"{verdict['severity']} · {verdict['id']}"
    if verdict["severity"] == "info":
        yield "nothing failed here"
        yield from _wrapped(verdict["title"])
        return
    yield from _wrapped(verdict["title"])
    line, fix = report["line"], report["fix"]
    if line:
        place = f"{line['file']}:{line['line']}" if line["line"] else line["file"]
        yield f"line: {place} {line['name']}"
    if verdict["why"]:
        yield from _wrapped(f"why: {verdict['why']}")
    if fix:
        yield from _wrapped(f"what to change: {fix['text']}")
        yield from (f"    {code}" for code in (fix["code"] or "").splitlines())
    if fix and fix["outcome"]:
        yield from _wrapped(f"simulated: {fix['outcome']}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
