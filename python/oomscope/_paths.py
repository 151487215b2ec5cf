"""References in words: how an object refers to another one, as a person would write it."""

from __future__ import annotations

import collections
import functools
import types
from typing import Any

from ._roots import variables_of

# Entries of a container that are compared to find a place.
MAX_COMPARED = 100_000

# Keys that are written: names of the program, not its data.
MAX_KEY = 40

# A dictionary with more names than that is a collection.
MAX_FIELDS = 100


def step(parent: Any, child: Any) -> tuple[str, bool]:
    """How a parent refers to a child, and whether that is one of many: `.history`, `[17]`."""
    kind = type(parent)
    if issubclass(kind, dict):
        key = _key(parent, child)
        return key, key[1] != '"' or MAX_FIELDS < len(parent)
    if issubclass(kind, (list, tuple, collections.deque)):
        return f"[{_index(parent, child)}]", True
    if issubclass(kind, (set, frozenset)):
        return "{…}", True
    if issubclass(kind, types.FrameType):
        return f" → `{_name(variables_of(parent), child)}` in {parent.f_code.co_name}", False
    if issubclass(kind, types.GeneratorType):
        names = variables_of(parent.gi_frame) if parent.gi_frame is not None else {}
        return f" → `{_name(names, child)}` in {parent.gi_code.co_name}", False
    if issubclass(kind, types.FunctionType):
        cells = parent.__closure__ or ()
        at = next((at for at, cell in enumerate(cells) if cell is child), None)
        return (
            " → …" if at is None else f" → `{parent.__code__.co_freevars[at]}` of {parent.__name__}"
        ), False
    if issubclass(kind, BaseException) and isinstance(child, types.TracebackType):
        return " → its traceback", False
    if issubclass(kind, (types.CellType, types.TracebackType, types.MethodType)):
        return "", False
    if issubclass(kind, functools._lru_cache_wrapper):
        return " (lru_cache)", False
    return _attribute(parent, child), False


def _key(parent: Any, child: Any) -> str:
    for at, (key, value) in enumerate(list(dict.items(parent))):
        if at == MAX_COMPARED:
            break
        if value is child:
            if type(key) is int:
                return f"[{key}]"
            if type(key) is str and key.isidentifier() and len(key) <= MAX_KEY:
                return f'["{key}"]'
            break
    return "[…]"


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
    return " → …"
