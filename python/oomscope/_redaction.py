"""Names that must not leave the machine: in their place stand hashes, the same for the same name within a file."""

from __future__ import annotations

import hashlib
import os
import re

_WORD = re.compile(r"[^\W\d]\w*")

# Words of the recorder itself, in ways of references.
_OWN = {"its", "traceback", "in", "of", "lru_cache"}


class Redaction:
    """Hides names. The key is that of one file and is kept nowhere, so that nobody can confirm a guess."""

    def __init__(self) -> None:
        self._key = os.urandom(16)
        self._known: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """The same text with every name in it hidden; numbers and signs stay."""
        return _WORD.sub(lambda found: self._hidden(found[0]), text)

    def _hidden(self, name: str) -> str:
        if name in _OWN:
            return name
        if name not in self._known:
            digest = hashlib.blake2b(name.encode(), key=self._key, digest_size=4).hexdigest()
            self._known[name] = f"n{digest}"
        return self._known[name]
