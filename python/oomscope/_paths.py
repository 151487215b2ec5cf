"""References in words: how an object refers to another one, as a person would write it."""

from __future__ import annotations

import collections
import contextvars
import functools
import types
from typing import Any

from ._roots import variables_of

# Functions that wait, and what the names of their attributes begin with.
_SUSPENDED = {types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"}

# Where a module keeps what are its attributes.
OF_MODULES = ("._modules", "._parameters", "._buffers")

# A reference that has no name.
NAMELESS = " → …"

# Entries of a container that are compared to find a place.
MAX_COMPARED = 100_000

# Keys that are written: names of the program, not its data, such as digests.
MAX_KEY = 30

# A dictionary with more names than that is a collection.
MAX_FIELDS = 100


def is_collection(parent: Any) -> bool:
    """Whether an object refers to many others that have no names: lists and the like, and dictionaries as large as these."""
    kind = type(parent)
    if issubclass(kind, dict):
        return MAX_FIELDS < len(parent) or any(not _is_name(key) for key in list(parent))
    return issubclass(kind, (list, tuple, collections.deque, set, frozenset))


def collection_of(thing: Any) -> str | None:
    """The type that a collection is or derives from."""
    kinds = (list, collections.deque, dict, tuple, set, frozenset)
    return next((kind.__name__ for kind in kinds if issubclass(type(thing), kind)), None)


def joined(way: str, step: str) -> str:
    """A way with one step more, as a program would write it: modules as attributes, and a chain of like steps as two of them."""
    for own in OF_MODULES:
        if way.endswith(own) and step.startswith('["'):
            name = step[2:-2]
            way, step = way.removesuffix(own), f"[{name}]" if name.isdigit() else f".{name}"
    most = step if step == NAMELESS else step + step
    return way if step and way.endswith(most) else way + step


def step(parent: Any, child: Any) -> str:
    """How a parent refers to a child: `.history`, `[17]`. It may compare the child with all that there are."""
    kind = type(parent)
    if issubclass(kind, dict):
        return _key(parent, child)
    if issubclass(kind, (list, tuple, collections.deque)):
        return f"[{_index(parent, child)}]"
    if issubclass(kind, (set, frozenset)):
        return "{…}"
    if issubclass(kind, types.FrameType):
        return f" → `{_name(variables_of(parent), child)}` in {parent.f_code.co_name}"
    for suspended, of in _SUSPENDED.items():
        if issubclass(kind, suspended):
            frame, code = getattr(parent, f"{of}_frame"), getattr(parent, f"{of}_code")
            names = variables_of(frame) if frame is not None else {}
            return f" → `{_name(names, child)}` in {code.co_name}"
    if issubclass(kind, types.FunctionType):
        cells = parent.__closure__ or ()
        at = next((at for at, cell in enumerate(cells) if cell is child), None)
        return NAMELESS if at is None else f" → `{parent.__code__.co_freevars[at]}` of {parent.__name__}"
    if issubclass(kind, BaseException) and isinstance(child, types.TracebackType):
        return " → its traceback"
    if issubclass(kind, (types.CellType, types.TracebackType, types.MethodType, contextvars.ContextVar)):
        return ""
    if issubclass(kind, functools._lru_cache_wrapper):
        return " (lru_cache)"
    return _attribute(parent, child)


def _key(parent: Any, child: Any) -> str:
    for at, (key, value) in enumerate(list(dict.items(parent))):
        if at == MAX_COMPARED:
            break
        if value is child:
            if type(key) is int:
                return f"[{key}]"
            return f'["{key}"]' if _is_name(key) or _is_number(key) else "[…]"
    return "[…]"


def _is_name(key: Any) -> bool:
    return type(key) is str and key.isidentifier() and len(key) <= MAX_KEY


def _is_number(key: Any) -> bool:
    return type(key) is str and key.isdigit() and len(key) <= MAX_KEY


def _index(parent: Any, child: Any) -> int | str:
    for at, value in enumerate(list(parent)[:MAX_COMPARED]):
        if value is child:
            return at
    return "…"


def _name(names: dict[str, Any], child: Any) -> str:
    return next((name for name, value in names.items() if value is child), "…")


def _attribute(parent: Any, child: Any) -> str:
    try:
        names = object.__getattribute__(parent, "__dict__")
    except (AttributeError, TypeError):
        names = None
    if isinstance(names, dict):
        if names is child:
            return ""
        for name, value in list(names.items()):
            if value is child:
                return f".{name}"
    for base in type.__getattribute__(type(parent), "__mro__"):
        for name, member in list(vars(base).items()):
            if isinstance(member, types.MemberDescriptorType):
                try:
                    if member.__get__(parent) is child:
                        return f".{name}"
                except AttributeError:
                    continue
    return NAMELESS
