"""Questions to the program: it reads the snapshot, and Python reads what it answers.

Nothing of a snapshot is read in Python, and no shell has a part in it.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import IO, Any

from ._errors import OomscopeError, OomscopeWarning
from ._program import find_program

# How the program begins what it says on standard error, and the line below.
_SAYS, _HINT = "oomscope: ", "  hint: "


class Questions:
    """Runs the program, for as long as it takes unless there is a limit."""

    def __init__(self, program: str | os.PathLike[str] | None, timeout: float | None) -> None:
        found = find_program() if program is None else Path(program)
        if found is None:
            raise OomscopeError("the program is not installed beside this package", "pip install oomscope")
        self._program = str(found)
        self._timeout_s = timeout
        self._warned: set[str] = set()

    def document(self, *arguments: str) -> Any:
        """An answer in JSON."""
        return json.loads(self._ask(arguments, subprocess.PIPE))

    def write(self, out: IO[bytes], *arguments: str) -> None:
        """Writes the answer into a file."""
        self._ask(arguments, out)

    @functools.cached_property
    def has_parquet(self) -> bool:
        """Whether this build of the program writes Parquet."""
        return b"parquet" in self._ask(["export", "--help"], subprocess.PIPE)

    def _ask(self, arguments: tuple[str, ...] | list[str], out: int | IO[bytes]) -> bytes:
        try:
            done = subprocess.run(
                [self._program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=self._timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            took = f"oomscope {arguments[0]} took longer than {self._timeout_s:g} s"
            raise OomscopeError(took, "open the file with a longer timeout, or without one") from None
        except OSError as error:
            raise OomscopeError(f"cannot run {self._program}: {error.strerror}") from error
        said = _read(done.stderr.decode("utf-8", "replace"))
        # `ranks` compares the files that it can read, and names the others in the answer.
        is_partial = arguments[0] == "ranks" and done.returncode == 1 and not said
        if done.returncode != 0 and not is_partial:
            raise _failure(done.returncode, said)
        if is_partial:
            self._warn("warning: some files of the job could not be read; the answer says which, and why")
        for text, _ in said:
            self._warn(text)
        return done.stdout or b""

    def _warn(self, text: str) -> None:
        """Warns where the user asked; of each file, once."""
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, OomscopeWarning, stacklevel=_depth())


def _read(text: str) -> list[tuple[str, str | None]]:
    """What the program said, each with its hint."""
    said: list[tuple[str, str | None]] = []
    if text.startswith("error: "):
        # Options that are wrong: a paragraph, and then how to find help.
        paragraph = text[len("error: ") :].partition("\n\n")[0]
        return [(" ".join(paragraph.split()), None)]
    for line in text.splitlines():
        if line.startswith(_SAYS):
            said.append((line[len(_SAYS) :], None))
        elif line.startswith(_HINT) and said:
            said[-1] = (said[-1][0], line[len(_HINT) :])
    return said


def _failure(code: int, said: list[tuple[str, str | None]]) -> OomscopeError:
    """The error has a hint; what is said besides is about files that were read."""
    if said:
        return OomscopeError(*next((each for each in reversed(said) if each[1] is not None), said[-1]))
    if code < 0:
        return OomscopeError(f"the program was ended by {signal.Signals(-code).name}")
    return OomscopeError(f"the program failed with exit code {code}, and did not say why")


def _depth() -> int:
    """How many frames out from the caller it is to the first one that is not of this package: where the user asked."""
    depth = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        depth += 1
    return depth


def _is_own(module: str) -> bool:
    # Between two frames of a `with` is one of this.
    return module.startswith(f"{__package__}.") or module == "contextlib"
