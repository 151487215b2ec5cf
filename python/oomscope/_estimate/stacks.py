"""The stack of Python's frames at a request, as torch's own recordings have it."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

# (function, file, line), the innermost first.
Frame = tuple[str, str, int]
Stack = tuple[Frame, ...]

OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# The engine calls back on a thread of its own on a device, whose stack begins there.
ENGINE = "_engine_run_backward"

# What torch itself calls between an operator and this package.
PLUMBING = tuple(
    os.sep + os.path.join("torch", *name.split("/"))
    for name in (
        "_compile.py",
        "_dynamo/eval_frame.py",
        "_ops.py",
        "utils/_pytree.py",
        "utils/_python_dispatch.py",
        "utils/_contextlib.py",
    )
)

# What is below the program.
RUNNERS = ("runpy.py", "<frozen runpy>")

MAX_FRAMES = 1000

# Places in the program that are remembered with their stacks.
MAX_KNOWN = 200_000


class Stacks:
    """Stacks, each kept once."""

    def __init__(self) -> None:
        # By what is called from where. Codes stand for themselves by their addresses, which is quicker, and are kept alive for that.
        self._known: dict[tuple[int, ...], Stack] = {}
        self._alive: dict[int, CodeType] = {}
        # By code and line: what kind it is, and how it is written.
        self._frames: dict[tuple[CodeType, int | None], tuple[str, Frame]] = {}
        self._stacks: dict[Stack, Stack] = {}
        self._kinds: dict[CodeType, str] = {}

    def here(self) -> Stack:
        """The present one, without frames of this package and of what it calls."""
        innermost = sys._getframe(1)
        frame: FrameType | None = innermost
        calls: list[int] = []
        while frame is not None:
            calls += (id(frame.f_code), frame.f_lasti)
            frame = frame.f_back
        key = tuple(calls)
        known = self._known.get(key)
        if known is None:
            if MAX_KNOWN <= len(self._known):
                self._known.clear()
            known = self._known[key] = self._written(innermost)
        return known

    def _written(self, frame: FrameType | None) -> Stack:
        """The frames from one outwards."""
        frames: list[Frame] = []
        known_frames = self._frames
        # Until the program begins, what this package calls is not the program's.
        is_inside = True
        self._keep_alive(frame)
        while frame is not None and len(frames) < MAX_FRAMES:
            key = (frame.f_code, frame.f_lineno)
            known = known_frames.get(key)
            if known is None:
                known = known_frames[key] = self._described(*key)
            kind, described = known
            if kind == "engine":
                break
            if kind == "own":
                if is_inside:
                    frames.clear()
            else:
                is_inside = is_inside and kind == "plumbing"
                frames.append(described)
            frame = frame.f_back
        stack = tuple(frames)
        return self._stacks.setdefault(stack, stack)

    def _keep_alive(self, frame: FrameType | None) -> None:
        while frame is not None:
            self._alive[id(frame.f_code)] = frame.f_code
            frame = frame.f_back

    def _described(self, code: CodeType, line: int | None) -> tuple[str, Frame]:
        kind = "engine" if code.co_name == ENGINE else self._kind(code)
        return kind, (code.co_name, code.co_filename, line or 0)

    def _kind(self, code: CodeType) -> str:
        kind = self._kinds.get(code)
        if kind is None:
            name = code.co_filename
            is_own = name.startswith(OWN) or name.endswith(RUNNERS)
            kind = "own" if is_own else "plumbing" if name.endswith(PLUMBING) else ""
            self._kinds[code] = kind
        return kind
