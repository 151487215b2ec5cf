"""Names that must not leave the machine: in their place stand hashes, the same for the same name within a recording."""

from __future__ import annotations

import hashlib
import os
import re

# Texts that are remembered: paths of modules are asked for with each call.
MAX_TEXTS = 100_000

_WORD = re.compile(r"[^\W\d]\w*")

# Words of the recorder itself, in ways of references.
_OWN = {"its", "traceback", "in", "of", "lru_cache"}


class Redaction:
    """Hides names. The key is that of one recording and is kept nowhere, so that nobody can confirm a guess."""

    def __init__(self) -> None:
        self._key = os.urandom(16)
        self._known: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """The same text with every name in it hidden; numbers and signs stay."""
        hidden = self._texts.get(text)
        if hidden is None:
            hidden = _WORD.sub(lambda found: self._hidden(found[0]), text)
            if len(self._texts) < MAX_TEXTS:
                self._texts[text] = hidden
        return hidden

    def _hidden(self, name: str) -> str:
        if name in _OWN:
            return name
        if name not in self._known:
            digest = hashlib.blake2b(name.encode(), key=self._key, digest_size=4).hexdigest()
            self._known[name] = f"n{digest}"
        return self._known[name]
