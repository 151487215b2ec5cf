"""Programs that a script starts: they see no device, and what they ask for is not estimated."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from .notes import Notes
from .overlay import Overlay
from .patches import Patches

STARTED = "another program is started, which sees no device: what it asks for is not estimated"

VISIBLE = "CUDA_VISIBLE_DEVICES"


class Children:
    """Whether there are any."""

    def __init__(self, overlay: Overlay, notes: Notes) -> None:
        self.are_there = False
        self._overlay = overlay
        self._notes = notes

    def watch(self, patches: Patches) -> None:
        """Has those that are started from now on see no device."""
        begin, system = subprocess.Popen.__init__, os.system

        def begin_apart(process: Any, *args: Any, **kwargs: Any) -> None:
            if not self._overlay.is_off():
                self._note()
                if not kwargs.get("env") and len(args) <= ENV:
                    kwargs["env"] = {**os.environ, VISIBLE: ""}
                elif kwargs.get("env"):
                    kwargs["env"] = {**kwargs["env"], VISIBLE: ""}
            begin(process, *args, **kwargs)

        def system_apart(command: Any) -> int:
            self._note()
            before = os.environ.get(VISIBLE)
            os.environ[VISIBLE] = ""
            try:
                return system(command)
            finally:
                os.environ.pop(VISIBLE)
                if before is not None:
                    os.environ[VISIBLE] = before

        patches.put(subprocess.Popen, "__init__", begin_apart)
        patches.put(os, "system", system_apart)

    def _note(self) -> None:
        self.are_there = True
        self._notes.add(STARTED)


# Arguments of `Popen` before its environment.
ENV = 10
