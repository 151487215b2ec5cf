"""What a recording says of itself: a key `oomscope` in the snapshot, beside torch's own keys, which viewers ignore.

None of the names within is one of torch's, so that no reader takes it for an event or a block.
"""

from __future__ import annotations

from typing import Any

from ._version import __version__

Facts = dict[str, Any]

# PyTorch's own counters, by the names that they have here. They go back to the start of the program or to its last
# `reset_peak_memory_stats()`, and so beyond the history.
PEAKS = {
    "peak_requested_bytes": "requested_bytes.all.peak",
    "peak_reserved_bytes": "reserved_bytes.all.peak",
}


def facts_of(torch: Any, settings: Facts, rank: int, world: int | None) -> Facts:
    """The versions, the rank, the settings of the history and the memory of each device."""
    return {
        "recorder": __version__,
        "torch": str(torch.__version__),
        "rank": rank,
        "world_size": world,
        "settings": settings,
        "devices": devices_of(torch),
    }


def devices_of(torch: Any) -> dict[str, Facts]:
    """Model and memory of each device, which no snapshot of torch's says. Nothing is asked of a device that is not in use."""
    devices = {}
    for index in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(index)
        facts: Facts = {"model": about.name, "total_bytes": about.total_memory}
        if torch.cuda.memory_reserved(index):
            facts["free_bytes"] = torch.cuda.mem_get_info(index)[0]
            stats = torch.cuda.memory_stats(index)
            facts.update({name: stats[key] for name, key in PEAKS.items() if key in stats})
        devices[str(index)] = facts
    return devices
