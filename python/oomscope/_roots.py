"""Places from which a person knows objects: variables of functions that are running, and globals of modules."""

from __future__ import annotations

import dis
import inspect
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Files of these are libraries, not the program.
_LIBRARIES = tuple(
    os.path.join(path, "")
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    if path
)
_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


# Functions that call these may keep or use the dictionary of their variables. The first are built in, and also names of many methods, as
# `model.eval()`.
_BUILT_IN = {"locals", "vars", "dir", "eval", "exec"}
_OF_FRAMES = {"_getframe", "currentframe"}

# References to that dictionary where nobody else has it: of the frame, of this function, and of the question.
OWN_REFERENCES = 3


@dataclass(frozen=True)
class Place:
    """A function that is running, or a module."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Root:
    """A variable with what it refers to."""

    name: str
    value: Any
    place: Place
    # Whether it is the first argument of a function, as the `self` of methods.
    is_first: bool = False


def own_roots() -> Iterator[Root]:
    """The variables of the program's own functions, the innermost first, then the globals of its own modules."""
    seen: set[int] = set()
    for frame in _frames():
        if _is_own(frame.f_code.co_filename):
            place = _place(frame)
            first = frame.f_code.co_varnames[: min(frame.f_code.co_argcount, 1)]
            for name, value in variables_of(frame).items():
                yield Root(name, value, place, name in first)
            seen.add(id(frame.f_globals))
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        file = names.get("__file__") if isinstance(names, dict) else None
        # A notebook's cells have no file, and are __main__.
        if isinstance(names, dict) and (name == "__main__" or (isinstance(file, str) and _is_own(file))):
            place = Place(
                "<module>" if name == "__main__" else name, file if isinstance(file, str) else "", 0
            )
            for variable, value in list(names.items()):
                yield Root(str(variable), value, place)
                if isinstance(value, type) and value.__module__ == name:
                    yield from _of_class(value, place)


def _of_class(kind: type, place: Place) -> Iterator[Root]:
    """What a class has itself: attributes that all share, and functions with a cache."""
    for name, value in list(vars(kind).items()):
        if not isinstance(value, types.FunctionType):
            yield Root(f"{kind.__name__}.{name}", value, place)


def other_roots() -> Iterator[Root]:
    """The variables of functions of libraries."""
    for frame in _frames():
        if not _is_own(frame.f_code.co_filename):
            place = _place(frame)
            for name, value in variables_of(frame).items():
                yield Root(name, value, place)


def variables_of(frame: types.FrameType) -> dict[str, Any]:
    """The variables of a frame.

    Before Python 3.13, all that ask a function's frame share one dictionary, which the frame keeps, and so the values. So it is
    emptied, unless somebody else has it, and functions that may have it themselves are not asked.
    """
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return dict(frame.f_locals)
    if _asks_for_its_own(frame.f_code):
        return {}
    found = frame.f_locals
    copied = dict(found)
    if sys.getrefcount(found) <= OWN_REFERENCES:
        found.clear()
    return copied


def _asks_for_its_own(code: types.CodeType) -> bool:
    if not _OF_FRAMES.isdisjoint(code.co_names):
        return True
    if _BUILT_IN.isdisjoint(code.co_names):
        return False
    loads = (at for at in dis.get_instructions(code) if at.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")))
    return any(at.argval in _BUILT_IN for at in loads)


def _frames() -> Iterator[types.FrameType]:
    """The frames of all threads, without those of this package."""
    for innermost in list(sys._current_frames().values()):
        frame: types.FrameType | None = innermost
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_HERE):
                yield frame
            frame = frame.f_back


def _place(frame: types.FrameType) -> Place:
    return Place(frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno)


def _is_own(file: str) -> bool:
    if file.startswith("<"):
        # A cell of a notebook, or a program that was given as text.
        return file.startswith(("<ipython", "<stdin", "<string"))
    path = os.path.abspath(file)
    return not path.startswith((*_LIBRARIES, _HERE)) and "site-packages" not in path
