"""A second run, where stand-ins decided how large something is: with zeros instead, everything goes one way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

# Beside as long as the first run took.
MORE_S = 20.0


class Again:
    """The same program once more, in a process of its own. Made before the program runs, which may change where it is."""

    def __init__(self, own: list[str], rest: list[str]) -> None:
        self._own = own
        self._rest = rest
        self._folder = os.getcwd()
        self._environment = dict(os.environ)
        self._process: subprocess.Popen[bytes] | None = None

    def most_bytes(self, max_s: float) -> int | None:
        """The most that the program allocates then; `None` where it does not come to the same end."""
        package = str(Path(__file__).parents[2])
        path = self._environment.get("PYTHONPATH")
        environment = {
            **self._environment,
            "PYTHONPATH": os.pathsep.join([package, *([path] if path else [])]),
        }
        with tempfile.TemporaryDirectory(prefix="oomscope-again-") as folder:
            answer = Path(folder) / "most.json"
            # The last of two options holds.
            options = [*self._own, f"--zeros={answer}", f"--seconds={max_s + MORE_S:.0f}"]
            command = [sys.executable, "-m", "oomscope", "estimate", *options, "--", *self._rest]
            environment["TMPDIR"] = folder
            try:
                self._run(command, environment, max_s + 3 * MORE_S)
                found: dict[str, Any] = json.loads(answer.read_text())
            except (OSError, ValueError, subprocess.TimeoutExpired):
                return None
        return None if found["is_cut_off"] else int(found["most_bytes"])

    def stop(self) -> bool:
        """Gives it up; returns whether it ran."""
        if self._process is None:
            return False
        _end(self._process)
        return True

    def _run(self, command: list[str], environment: dict[str, str], max_s: float) -> None:
        """Runs it with all that it starts as a group, which ends with it."""
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._process = process
        try:
            process.wait(max_s)
        finally:
            self._process = None
            _end(process)
            process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def end_with_parent() -> None:
    """Has this process end when the first run is ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def answer_again(path: str, most_bytes: int, is_cut_off: bool) -> None:
    """What the second run leaves for the first."""
    Path(path).write_text(json.dumps({"most_bytes": most_bytes, "is_cut_off": is_cut_off}))
