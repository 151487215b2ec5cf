"""Failed requests, as the allocator tells them before it raises.

torch has no way to take an observer back, so one is attached for the life of the process and asks who listens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._messages import harmless

# The device, the bytes asked for, the bytes of the device and those that are free.
Listener = Callable[[int, int, int, int], None]

_listener: Listener | None = None
_is_attached = False


def listen(torch: Any, listener: Listener) -> None:
    """Calls `listener` at each failed request, in the thread that asks for memory."""
    global _listener, _is_attached
    _listener = listener
    if not _is_attached:
        torch._C._cuda_attach_out_of_memory_observer(_on_oom)
        _is_attached = True


def forget() -> None:
    """Calls nobody any more."""
    global _listener
    _listener = None


def _on_oom(device: int, requested_bytes: int, total_bytes: int, free_bytes: int) -> None:
    listener = _listener
    if listener is not None:
        with harmless("writing a snapshot of a failed request"):
            listener(device, requested_bytes, total_bytes, free_bytes)
