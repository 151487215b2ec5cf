"""Which rank of a job this process is."""

from __future__ import annotations

import os
import sys

# In the order of trust: the launcher of the processes itself before the scheduler that started the launcher.
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK")
_WORLDS = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "LOCAL_WORLD_SIZE")


def find_peers() -> tuple[int, int] | None:
    """The rank and how many there are, where ranks wait for each other. Tasks that a scheduler starts may have nothing in common."""
    rank, world = find_rank()
    if world is None or world < 2 or not (_is_initialized() or os.environ.get("RANK", "").isdecimal()):
        return None
    return rank, world


def find_rank() -> tuple[int, int | None]:
    """The rank, 0 for a program of one process, and how many there are, where that is known."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and _is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    for rank, world in zip(_RANKS, _WORLDS):
        value = os.environ.get(rank, "")
        if value.isdecimal():
            size = os.environ.get(world, "")
            return int(value), int(size) if size.isdecimal() else None
    return 0, None


def _is_initialized() -> bool:
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and distributed.is_initialized()
