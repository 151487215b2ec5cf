"""Facts in the metadata of allocations, beside what the program has there. Metadata belongs to a thread."""

from __future__ import annotations

import json
from typing import Any

# Texts that are remembered: steps times modules.
MAX_TEXTS = 100_000


class Metadata:
    """The metadata of events, where this torch has it: since 2.12 at the latest."""

    def __init__(self, torch: Any) -> None:
        self._get = getattr(torch.cuda.memory, "_get_memory_metadata", None)
        self._set = getattr(torch.cuda.memory, "_set_memory_metadata", None)
        # What was written here, with what the program had there: it may put back what it has found.
        self._programs: dict[str, str] = {}
        self._texts: dict[tuple[Any, ...], str] = {}

    @property
    def is_known(self) -> bool:
        """Whether this torch has metadata."""
        return self._get is not None and self._set is not None

    def set(self, **facts: Any) -> None:
        """Sets the facts of this thread, and leaves what the program has there; facts that are `None` go."""
        if self._get is None or self._set is None:
            return
        found = self._get()
        program = self._programs.get(found, found)
        key = (program, *facts.items())
        text = self._texts.get(key)
        if text is None:
            text = _merged(program, {name: value for name, value in facts.items() if value is not None})
            if MAX_TEXTS <= len(self._texts):
                self._texts.clear()
                self._programs.clear()
            self._texts[key] = text
            if text != program:
                self._programs[text] = program
        if text != found:
            self._set(text)


def _merged(program: str, facts: dict[str, Any]) -> str:
    """The program's own text with facts: what it says itself counts."""
    if not facts:
        return program
    if not program:
        return json.dumps(facts, separators=(",", ":"))
    try:
        own = json.loads(program)
    except ValueError:
        own = None
    if isinstance(own, dict):
        return json.dumps({**facts, **own}, separators=(",", ":"))
    return f"{program} {json.dumps(facts, separators=(',', ':'))}"
