"""Records PyTorch CUDA memory snapshots, one line in a training program.

    with oomscope.record("snapshots/") as recording:
        for batch in recording.steps(loader):
            ...

Nothing there raises into the training: a failure is one warning. Without a device, or without torch, nothing happens.

    oomscope.open("oom.pickle").table("allocations").pandas()

reads a snapshot by the program, and raises `OomscopeError` where it cannot.
"""

from ._by_hand import annotate, census
from ._errors import OomscopeError, OomscopeWarning
from ._recording import Recording, record
from ._snapshot import Snapshot
from ._snapshot import open as open
from ._table import Table
from ._version import __version__

# `open` is left out, so that `from oomscope import *` leaves Python's own in its place.
__all__ = [
    "OomscopeError",
    "OomscopeWarning",
    "Recording",
    "Snapshot",
    "Table",
    "__version__",
    "annotate",
    "census",
    "record",
]
