"""The lives of storages on pretended devices, as requests to an allocator, in order."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Iterator
from typing import Any

from .stacks import Stack, Stacks

# Addresses are never used twice: which block a request gets is decided later, by the allocator.
FIRST_ADDRESS = 0x7000_0000_0000
ALIGNMENT = 512

# The device of parameters that a program made on the CPU: they have no memory there, either.
HOST = -1


class Memory:
    """A storage of a pretended device."""

    __slots__ = ("__weakref__", "address", "device", "is_guess", "is_other", "known", "nbytes", "watch")

    def __init__(self, device: int, nbytes: int, address: int) -> None:
        self.device = device
        self.nbytes = nbytes
        self.address = address
        # A storage of the CPU with the same bytes, where they are known.
        self.known: Any = None
        # Whether those stand in for unknown ones, or follow from such; of a workspace, whether its size does.
        self.is_guess = False
        self.watch: Any = None
        # Whether a device takes another size than the tensor says.
        self.is_other = False


class _Watch(weakref.ref):  # type: ignore[type-arg]
    """Tells when a storage is gone."""

    __slots__ = ("key", "memory")

    key: int
    memory: Memory


# What an allocator is asked for: memory, to take it back, or to give all that it keeps back to the device.
ALLOC, FREE, EMPTY_CACHE = "alloc", "free", "empty_cache"


class Request:
    """What an allocator is asked for, and by whom."""

    __slots__ = ("action", "address", "device", "metadata", "nbytes", "stack", "stream", "time_us")

    def __init__(self, action: str, memory: Memory, stack: Stack, stream: int, metadata: str) -> None:
        self.action = action
        self.device = memory.device
        self.address = memory.address
        self.nbytes = memory.nbytes
        self.stack = stack
        self.stream = stream
        self.metadata = metadata
        self.time_us = time.time_ns() // 1000


class Storages:
    """All storages of pretended devices, and the requests so far."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.metadata = ""
        self.stream = 0
        self.bared = 0
        # The device that work goes to.
        self.current = 0
        self._stacks = Stacks()
        self._memories: dict[int, Memory] = {}
        self._streams: dict[int, int] = {}
        self._next = FIRST_ADDRESS
        self._is_over = False
        self.allocated: dict[int, int] = {}
        # Since the program reset it.
        self.peak: dict[int, int] = {}
        # The most that was allocated; without what is only guessed, and with twice as much of it.
        self.most: dict[int, int] = {}
        self.most_sure: dict[int, int] = {}
        self.most_wide: dict[int, int] = {}
        self._guessed: dict[int, int] = {}

    @contextlib.contextmanager
    def bare(self) -> Iterator[None]:
        """Tensors that are made without memory now are meant to have none."""
        self.bared += 1
        try:
            yield
        finally:
            self.bared -= 1

    def of(self, tensor: Any) -> Memory | None:
        """The memory of a tensor, if it is on a pretended device."""
        return self._memories.get(tensor.untyped_storage()._cdata)

    def of_storage(self, storage: Any) -> Memory | None:
        """The memory of a storage, if it is on a pretended device."""
        return self._memories.get(storage._cdata)

    def add(self, tensor: Any, device: int, nbytes: int | None = None) -> Memory:
        """The storage of a tensor is on a device from now on, there of another size if one is given."""
        storage = tensor.untyped_storage()
        memory = Memory(device, storage.nbytes() if nbytes is None else nbytes, 0)
        memory.is_other = nbytes is not None
        watch = _Watch(storage, self._died)
        watch.key = storage._cdata
        watch.memory = memory
        memory.watch = watch
        self._memories[watch.key] = memory
        self._ask(memory)
        return memory

    def resized(self, storage: Any, memory: Memory) -> None:
        """A storage has another size than before: it was given back, and asked for again."""
        self.give_back(memory)
        memory.nbytes = storage.nbytes()
        memory.known = None
        self._ask(memory)

    def pass_by(self, device: int, nbytes: int, is_guess: bool = False) -> Memory:
        """Memory that no tensor of the program has: a workspace of an operator, which may be of a guessed size."""
        memory = Memory(device, nbytes, 0)
        memory.is_guess = is_guess
        self._ask(memory)
        return memory

    def give_back(self, memory: Memory) -> None:
        """Memory is given back."""
        if memory.address and memory.device != HOST and not self._is_over:
            self._note(FREE, memory, self._streams.pop(memory.address, 0))
            self._count(memory, -_rounded(memory.nbytes))
        memory.address = 0

    def empty_cache(self, device: int) -> None:
        """Memory that the allocator keeps goes back to the device."""
        if not self._is_over:
            self._note(EMPTY_CACHE, Memory(device, 0, 0), self.stream)

    def finish(self) -> None:
        """What dies from now on is no request any more."""
        self._is_over = True

    def _note(self, action: str, memory: Memory, stream: int) -> None:
        self.requests.append(Request(action, memory, self._stacks.here(), stream, self.metadata))

    def _ask(self, memory: Memory) -> None:
        if memory.nbytes == 0 or self._is_over:
            return
        rounded = _rounded(memory.nbytes)
        memory.address = self._next
        self._next += rounded
        if memory.device == HOST:
            return
        self._streams[memory.address] = self.stream
        self._note(ALLOC, memory, self.stream)
        self._count(memory, rounded)

    def _count(self, memory: Memory, change: int) -> None:
        device = memory.device
        allocated = self.allocated[device] = self.allocated.get(device, 0) + change
        if memory.is_guess and memory.watch is None:
            self._guessed[device] = self._guessed.get(device, 0) + change
        guessed = self._guessed.get(device, 0)
        for most, now in (
            (self.peak, allocated),
            (self.most, allocated),
            (self.most_sure, allocated - guessed),
            (self.most_wide, allocated + guessed),
        ):
            if most.get(device, 0) < now:
                most[device] = now

    def _died(self, watch: Any) -> None:
        if self._memories.get(watch.key) is watch.memory:
            del self._memories[watch.key]
        self.give_back(watch.memory)


def device_of(memories: list[Memory | None]) -> int:
    """The first device that any memory is on."""
    for memory in memories:
        if memory is not None and memory.device != HOST:
            return memory.device
    return HOST


def _rounded(nbytes: int) -> int:
    return (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
