"""Streams, events, generators, graphs and pools of a device that runs nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from typing_extensions import Self


class Stream:
    """A queue of a device, by its number: what is in it is never run."""

    _count = 0

    # Has work go to a stream from now on; returns the one before.
    enter: Callable[[Any], Any] = staticmethod(lambda stream: stream)

    def __init__(self, device: Any = None, priority: int = 0, **more: Any) -> None:
        del device, priority
        Stream._count += 1
        self.stream_id = more.get("stream_id", Stream._count)
        self.device = torch.device("cuda", 0)
        self.device_index = 0
        self.device_type = 1

    @property
    def cuda_stream(self) -> int:
        return int(self.stream_id)

    def wait_stream(self, stream: Any) -> None:
        """Nothing runs."""

    def wait_event(self, event: Any) -> None:
        """Nothing runs."""

    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def synchronize(self) -> None:
        """Nothing runs."""

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def __enter__(self) -> Self:
        self._entered = Stream.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        Stream.enter(self._entered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)


class Event:
    """A mark in a stream, which is reached at once."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        del enable_timing, blocking, interprocess

    def record(self, stream: Any = None) -> None:
        """Nothing runs."""

    def wait(self, stream: Any = None) -> None:
        """Nothing runs."""

    def synchronize(self) -> None:
        """Nothing runs."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        """Milliseconds, of which there are none: one."""
        del other
        return 1.0


_Generator = torch.Generator


class Generator(_Generator):  # type: ignore[misc, valid-type]
    """A generator for a device, which is one of the CPU."""

    def __new__(cls, device: Any = "cpu") -> Any:
        made = _Generator.__new__(cls, "cpu")
        made._pretended = torch.device(device)
        return made

    def __init__(self, device: Any = "cpu") -> None:
        del device

    @property
    def device(self) -> Any:
        return self._pretended


class Graph:
    """A graph that is captured as it runs, once; to replay it takes no other memory."""

    def __init__(self, keep_graph: bool = False) -> None:
        del keep_graph

    def capture_begin(self, *_: Any, **__: Any) -> None:
        """What follows runs as ever."""

    def capture_end(self) -> None:
        """What follows runs as ever."""

    def instantiate(self) -> None:
        """There is nothing to make."""

    def replay(self) -> None:
        """Nothing runs."""

    def reset(self) -> None:
        """There is nothing to give back."""

    def pool(self) -> tuple[int, int]:
        return (0, 0)


class Pool:
    """A pool of its own: its requests are counted as all others."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.id = (0, 0)
        self.allocator = None

    def use_count(self) -> int:
        return 1

    def snapshot(self, *_: Any, **__: Any) -> list[Any]:
        return []


@contextlib.contextmanager
def as_ever(*_: Any, **__: Any) -> Iterator[None]:
    """A region that is no other than what is around it."""
    yield


@contextlib.contextmanager
def on_stream(stream: Any) -> Iterator[None]:
    """Work goes to a stream, as `torch.cuda.stream` has it."""
    before = Stream.enter(stream)
    try:
        yield
    finally:
        Stream.enter(before)
