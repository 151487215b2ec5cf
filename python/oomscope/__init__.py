"""Records PyTorch CUDA memory snapshots, one line in a training program.

    with oomscope.record("snapshots/") as recording:
        for batch in recording.steps(loader):
            ...

Nothing here raises into the training: a failure is one warning. Without a device, or without torch, nothing happens.
"""

from ._by_hand import annotate, census
from ._recording import Recording, record
from ._version import __version__

__all__ = ["Recording", "__version__", "annotate", "census", "record"]
