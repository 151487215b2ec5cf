"""Which rank of a job has failed: a file in the directory of the snapshots, and a key of the job's store where it has nodes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from ._messages import harmless

# What tells this job, and this start of it, from others in the same directory.
_JOB = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "PMIX_NAMESPACE",
)
_OLD_S = 24 * 3600
_STORE_TIMEOUT = timedelta(seconds=5)


class Failures:
    """What the ranks of this job tell each other. A rank hears what is told after it began to listen."""

    def __init__(self, directory: Path, world: int) -> None:
        job = "|".join([*(os.environ.get(name, "") for name in _JOB), str(world)])
        self._path = directory / f".failed_{hashlib.sha256(job.encode()).hexdigest()[:16]}"
        _sweep(directory)
        self._read_bytes = _size_bytes(self._path)
        self._store: _Store | None = _Store() if _has_nodes(world) else None

    def tell(self, rank: int) -> None:
        """Says that this rank fails."""
        with harmless("telling other ranks of a failure"):
            handle = os.open(self._path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o666)
            try:
                os.write(handle, f"{rank}\n".encode())
            finally:
                os.close(handle)
        if self._store is not None:
            self._store.tell(rank)

    def hear(self) -> int | None:
        """A rank that has failed since the last call."""
        rank = self._hear_file()
        if rank is None and self._store is not None:
            rank = self._store.hear()
        return rank

    def _hear_file(self) -> int | None:
        if _size_bytes(self._path) <= self._read_bytes:
            return None
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            file.seek(self._read_bytes)
            text = file.read(4096)
            self._read_bytes += len(text)
            ranks = [line for line in text.split() if line.isdigit()]
            return int(ranks[0]) if ranks else None
        return None


class _Store:
    """The job's TCPStore, over a connection of our own: the program's may be busy. It reaches nodes that share no directory."""

    def __init__(self) -> None:
        self._key = f"oomscope/failed/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '')}"
        self._connection: Any = None
        self._is_over = False

    def tell(self, rank: int) -> None:
        with harmless("telling other nodes of a failure"):
            self._connect()
            if self._connection is not None:
                self._connection.set(self._key, str(rank))

    def hear(self) -> int | None:
        """The rank that was told last; `None` for ever once the store is gone."""
        if self._is_over:
            return None
        self._is_over = True
        with contextlib.suppress(Exception):
            self._connect()
            if self._connection is None or not self._connection.check([self._key]):
                self._is_over = False
                return None
            return int(self._connection.get(self._key))
        return None

    def _connect(self) -> None:
        distributed = sys.modules.get("torch.distributed")
        if self._connection is not None or distributed is None or not distributed.is_initialized():
            return
        store = distributed.distributed_c10d._get_default_store()
        while hasattr(store, "underlying_store"):
            store = store.underlying_store
        if isinstance(store, distributed.TCPStore):
            self._connection = distributed.TCPStore(
                store.host,
                store.port,
                is_master=False,
                timeout=_STORE_TIMEOUT,
                wait_for_workers=False,
            )


def _has_nodes(world: int) -> bool:
    """Whether ranks run on more than one node, as far as the launcher says."""
    local = os.environ.get("LOCAL_WORLD_SIZE", "")
    return local.isdecimal() and int(local) < world


def _sweep(directory: Path) -> None:
    """Removes what jobs of other days have told."""
    for path in directory.glob(".failed_*"):
        with contextlib.suppress(OSError):
            if _OLD_S < time.time() - path.stat().st_mtime:
                path.unlink()


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
