"""The requests of a program as a snapshot without addresses: `oomscope lay-out` gives it those of the allocator."""

from __future__ import annotations

import os
import pickle
import time
from typing import Any, BinaryIO

import torch

from .._facts import Facts
from .._version import __version__
from .device import Device
from .stacks import Stack
from .storages import FREE, Request, Storages

# Events say their pool since this version, and which of two equal blocks is taken has changed with that.
POOLS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 10)

# The newest that every PyTorch viewer reads.
PICKLE_PROTOCOL = 4


def write_requests(file: BinaryIO, storages: Storages, facts: Facts, annotations: list[Facts]) -> None:
    """Writes all requests and what is known of the program."""
    frames: dict[Stack, list[dict[str, Any]]] = {}
    known: dict[tuple[str, str, int], dict[str, Any]] = {}
    traces: dict[int, list[dict[str, Any]]] = {}

    def shown(stack: Stack) -> list[dict[str, Any]]:
        if stack not in frames:
            for name, filename, line in stack:
                known.setdefault((name, filename, line), {"name": name, "filename": filename, "line": line})
            frames[stack] = [known[frame] for frame in stack]
        return frames[stack]

    for request in storages.requests:
        trace = traces.setdefault(request.device, [])
        trace.extend(_events(request, shown(request.stack)))
    count = max(traces, default=0) + 1
    snapshot = {
        "segments": [],
        "device_traces": [traces.get(device, []) for device in range(count)],
        "external_annotations": annotations,
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": _allocator_settings()},
        "oomscope": facts,
    }
    pickle.dump(snapshot, file, protocol=PICKLE_PROTOCOL)


def _allocator_settings() -> str:
    return os.environ.get("PYTORCH_ALLOC_CONF", os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""))


def _events(request: Request, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    actions = ("free_requested", "free_completed") if request.action == FREE else (request.action,)
    events = []
    for action in actions:
        event = {
            "action": action,
            "addr": request.address,
            "size": request.nbytes,
            "stream": request.stream,
            "time_us": request.time_us,
            "frames": frames,
        }
        if POOLS:
            event["pool_id"] = (0, 0)
        if request.metadata:
            event["user_metadata"] = request.metadata
        events.append(event)
    return events


def facts_of(device: Device, step: int, census: str | None, estimate: Facts) -> Facts:
    """What the file says of itself, as a recording does."""
    gpu = device.gpu
    about = {"model": gpu.name, "total_bytes": gpu.total_bytes, "context_bytes": gpu.context_bytes}
    facts: Facts = {
        "recorder": __version__,
        "torch": str(torch.__version__),
        "rank": 0,
        "world_size": None,
        "settings": {},
        "devices": {str(index): dict(about) for index in range(device.count)},
        "reason": "estimate",
        "step": step,
        "taken_us": time.time_ns() // 1000,
        "estimate": estimate,
    }
    if census is not None:
        facts["census"] = census
    return facts
