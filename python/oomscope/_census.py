"""A census: every tensor on a device that Python can reach, with the names that the program gave it.

It goes once through the objects that the garbage collector knows. It copies nothing, allocates nothing on a device, runs no code of
the program, keeps no reference, and stops when its time is up. What it finds is text, in columns: see `docs/recording.md`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import time
from collections.abc import Iterator
from typing import Any

from ._columns import Columns
from ._graph import Graph
from ._holders import Holder, Holders
from ._names import Names, Role
from ._redaction import Redaction

# What a program that just failed is kept waiting for, at most.
MAX_S = 1.0

# The longest text that is read.
MAX_BYTES = 32 << 20

# Objects between two looks at the clock.
STRIDE = 4096

# Objects whose types are looked at together.
PIECE = 512


class Deadline(Exception):
    """Time is up."""


def census(
    torch: Any,
    max_s: float = MAX_S,
    holders_s: float = 0.0,
    redaction: Redaction | None = None,
    places: Places | None = None,
) -> str:
    """All tensors on devices, as JSON; with time for that, also who holds those that have no names. With a redaction, hashes stand
    for names of the program's. Where tensors are is asked of torch, unless `places` knows."""
    places = places or Places(torch)
    start_s, began_us = time.monotonic(), time.time_ns() // 1000
    columns = Columns(redaction)
    is_complete = True
    with _plain_tensors(torch):
        try:
            named, placed, loose, kinds = _take(torch, places, columns, start_s + max_s)
            _hold(places, columns, named, placed, loose, kinds, time.monotonic() + holders_s)
            columns.add_places(named.places, named.trained)
        except Deadline:
            is_complete = False
    taken_us = round((time.monotonic() - start_s) * 1e6)
    about = {"version": 1, "complete": is_complete, "began_us": began_us, "taken_us": taken_us}
    found = {**about, **columns.as_dict()}
    text = json.dumps(found, separators=(",", ":"))
    if MAX_BYTES < len(text):
        # Names of tensors say more than those of modules.
        text = json.dumps({**found, "modules": {}, "classes": {}}, separators=(",", ":"))
    if MAX_BYTES < len(text):
        raise ValueError(f"they take more than {MAX_BYTES >> 20} MiB")
    return text


def _take(
    torch: Any, places: Places, columns: Columns, end_s: float
) -> tuple[Names, list[tuple[Any, Role]], list[Any], _Kinds]:
    """Adds what has a name. Returns the parameters that have only a place in an optimizer, and the other tensors."""
    kinds = _Kinds(torch)
    tensors, modules, optimizers = kinds.sorted(gc.get_objects(), end_s)
    plain = (torch.Tensor, getattr(torch.nn, "Parameter", torch.Tensor))
    names = Names(
        kinds.is_tensor,
        places.memory,
        lambda tensor: type(tensor) in plain and not places.is_on_device(tensor),
    )
    for _ in _until(names.of_modules(modules), end_s):
        pass
    for _ in _until(names.of_optimizers(optimizers), end_s):
        pass
    # Named ones first: where time is short, they say most.
    seen = set()
    placed = []
    for tensor, role, memory in _until(names.found(), end_s):
        seen.add(id(tensor))
        if role.kind == "optimizer_parameter":
            placed.append((tensor, role))
        elif memory is not None:
            _add_at(columns, tensor, role, memory)
    loose = []
    for tensor in _until(tensors, end_s):
        if id(tensor) not in seen:
            gradient = names.gradient_of(tensor)
            if gradient is not None and id(gradient) not in seen:
                seen.add(id(gradient))
                _add(places, columns, gradient, Role("gradient"))
            if id(tensor) not in seen:
                loose.append(tensor)
    return names, placed, loose, kinds


def _hold(
    places: Places,
    columns: Columns,
    names: Names,
    placed: list[tuple[Any, Role]],
    loose: list[Any],
    kinds: _Kinds,
    end_s: float,
) -> None:
    """Adds the tensors without names, and what their graphs have saved, with who holds them."""
    holders = Holders(kinds.is_tensor, [thing for _, thing in names.owners], end_s)
    if time.monotonic() < end_s:
        holders.search()
    for owner, thing in names.owners:
        columns.add_holder(owner, holders.of_owner(thing))
    for tensor, role in placed:
        _add(places, columns, tensor, role, holders.of(tensor))
    # The nearest first: what two graphs share is the nearer one's.
    loose.sort(key=holders.distance)
    held, rest = [], []
    for tensor in loose:
        memory = places.memory(tensor)
        size = 0 if memory is None else memory[1]
        holder = holders.of(tensor, size) if time.monotonic() < end_s else None
        if holder is None:
            rest.append(tensor)
        else:
            held.append((tensor, holder))
            _add(places, columns, tensor, None, holder)
    graph = Graph(end_s)
    for tensor, holder in held:
        for kind, saved in graph.saved_by(tensor):
            _add_other(places, columns, saved, Role("saved", key=kind), holder)
    # What a graph holds has objects of Python's, too, where the program once had it in a variable.
    for tensor in rest:
        _add_other(places, columns, tensor, None, None)
    holders.finish()
    columns.are_holders_complete = holders.is_complete and graph.is_complete and time.monotonic() < end_s


class _Kinds:
    """Which types are tensors, modules or optimizers: asked once for each type, and of the type alone, as objects may lie."""

    def __init__(self, torch: Any) -> None:
        self._wanted = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer)
        self._known: dict[type, int | None] = {}

    def sorted(self, objects: list[Any], end_s: float) -> tuple[list[Any], ...]:
        """The tensors, modules and optimizers of some objects."""
        # In pieces, so that the loops are those of the interpreter, and the clock is looked at.
        found: tuple[list[Any], ...] = ([], [], [])
        for at in range(0, len(objects), PIECE):
            piece = objects[at : at + PIECE]
            if not {kind for kind in set(map(type, piece)) if self._of(kind) is not None}:
                continue
            for thing in _until(piece, end_s):
                kind = self._of(type(thing))
                if kind is not None:
                    found[kind].append(thing)
        return found

    def is_tensor(self, thing: object) -> bool:
        return self._of(type(thing)) == 0

    def _of(self, kind: type) -> int | None:
        try:
            return self._known[kind]
        except KeyError:
            bases = type.__getattribute__(kind, "__mro__")
            found = next((at for at, wanted in enumerate(self._wanted) if wanted in bases), None)
            self._known[kind] = found
            return found


def _until(things: Any, end_s: float) -> Iterator[Any]:
    """All of them, unless time is up."""
    for at, thing in enumerate(things):
        if at % STRIDE == 0 and end_s < time.monotonic():
            raise Deadline
        yield thing


def _add(
    places: Places, columns: Columns, tensor: Any, role: Role | None, holder: Holder | None = None
) -> None:
    """Adds a tensor that has memory of its own on a device. Some have none, or do not say: fakes, wrappers, those on other
    devices."""
    memory = places.memory(tensor)
    if memory is not None:
        _add_at(columns, tensor, role, memory, holder)


def _add_at(
    columns: Columns, tensor: Any, role: Role | None, memory: tuple[int, int], holder: Holder | None = None
) -> None:
    # A tensor that belongs to the program answers as it likes.
    with contextlib.suppress(Exception):
        columns.add(tensor, role, *memory, holder)


def _add_other(
    places: Places, columns: Columns, tensor: Any, role: Role | None, holder: Holder | None
) -> None:
    """Adds a tensor unless another one has its storage."""
    memory = places.memory(tensor)
    if memory is not None and memory[0] not in columns.addresses:
        _add(places, columns, tensor, role, holder)


class Places:
    """Where tensors are, as torch says."""

    def __init__(self, torch: Any) -> None:
        self._ask = getattr(torch._C, "_data_address", None)

    def is_on_device(self, tensor: Any) -> bool:
        """Whether a tensor is on a device."""
        return bool(tensor.is_cuda)

    def memory(self, tensor: Any) -> tuple[int, int] | None:
        """Where the storage of a tensor begins on a device, and its bytes."""
        # A tensor that belongs to the program answers as it likes; this is asked too often for a context.
        try:
            if not tensor.is_cuda:
                return None
            size = tensor.untyped_storage().nbytes()
            address = self._address(tensor)
        except Exception:  # noqa: BLE001
            return None
        return (address, size) if address and size else None

    def _address(self, tensor: Any) -> int:
        """Where the storage begins. `data_ptr()` would make a copy of one that is copied when it is written."""
        if self._ask is not None:
            return int(self._ask(tensor))
        first = tensor.data_ptr()
        return int(first) - tensor.storage_offset() * tensor.element_size() if first else 0


@contextlib.contextmanager
def _plain_tensors(torch: Any) -> Iterator[None]:
    """Attributes of tensors without the code of their classes and modes."""
    switch = getattr(torch._C, "DisableTorchFunction", None) or getattr(
        torch._C, "DisableTorchFunctionSubclass", None
    )
    with switch() if switch is not None else contextlib.nullcontext():
        yield
