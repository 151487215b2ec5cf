"""Attributes of other modules that stand for something else while a program is estimated."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class Patches:
    """What was put in place of what, the last first."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Puts a value in place of an attribute, which need not be there."""
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def put_if_there(self, owner: Any, name: str, value: Any) -> None:
        """The same, for what only some versions have."""
        if hasattr(owner, name):
            self.put(owner, name, value)

    def restore(self) -> None:
        """Puts everything back."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
