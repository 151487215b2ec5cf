"""For those who write snapshots themselves: the census, and what else a recording says of itself."""

from __future__ import annotations

import importlib
import os
import pickle
from pathlib import Path
from typing import Any

from ._census import census as take
from ._facts import facts_of
from ._messages import harmless
from ._rank import find_rank
from ._redaction import Redaction
from ._writer import HOLDERS_S

# As torch and the recorder write it.
PICKLE_PROTOCOL = 4


def annotate(snapshot: dict[str, Any], *, redact: bool = False) -> dict[str, Any]:
    """Adds the names of tensors and the facts of the device to what `torch.cuda.memory._snapshot()` returned, at once: what is
    freed later has no name any more. Returns it. With `redact`, hashes stand for names. Never raises."""
    with harmless("naming tensors"):
        torch = importlib.import_module("torch")
        rank, world = find_rank()
        snapshot["oomscope"] = {
            **facts_of(torch, {}, rank, world),
            "census": take(torch, holders_s=HOLDERS_S, redaction=Redaction() if redact else None),
        }
    return snapshot


def census(path: str | os.PathLike[str], *, redact: bool = False) -> None:
    """Adds the same to a file that `torch.cuda.memory._dump_snapshot()` just wrote, which takes its place when it is whole. Never
    raises."""
    with harmless("naming tensors"):
        file = Path(path)
        torch = importlib.import_module("torch")
        rank, world = find_rank()
        names = take(torch, holders_s=HOLDERS_S, redaction=Redaction() if redact else None)
        facts = {**facts_of(torch, {}, rank, world), "census": names}
        # This process wrote it.
        snapshot = pickle.loads(file.read_bytes())
        snapshot["oomscope"] = facts
        partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
        try:
            partial.write_bytes(pickle.dumps(snapshot, protocol=PICKLE_PROTOCOL))
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
