"""Who holds a tensor: the variable from which the shortest way of references leads to it, and to what its graph has saved.

It goes from the program's variables through what they refer to, a level at a time, so that the first way that is found is the
shortest. Only references are followed that the garbage collector knows: none of the program's code runs.
"""

from __future__ import annotations

import contextvars
import gc
import itertools
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ._paths import OF_MODULES, collection_of, is_collection, joined, step
from ._roots import Place, Root, other_roots, own_roots

# Objects that are looked at, at most: some hundred MB.
MAX_OBJECTS = 2_000_000

# A list with fewer entries is a part of what another one has.
MIN_ENTRIES = 3

# The place of what was not reached in time.
NOWHERE = -1

# Objects between two looks at the clock.
STRIDE = 1024

# Containers, of which there are most.
_PLAIN = {dict, list, tuple, set, types.CellType}

# They lead everywhere.
_NOT_FOLLOWED = (types.ModuleType, type, types.CodeType, types.BuiltinFunctionType)


@dataclass(eq=False)
class Holder:
    """A variable, with attributes up to the list or dictionary that has its tensors: `self.history` in fit."""

    variable: str
    place: Place
    # The whole way to the largest tensor so far: `self.history[17]`.
    example: str
    # The type of the list or dictionary that it is.
    collection: str | None
    # Where the ways to all of its tensors part.
    parting: int
    largest_bytes: int = 0


class Holders:
    """Holders of tensors, by the id of the tensor. What was found is kept, so that ids stay those of the same objects."""

    def __init__(self, is_tensor: Callable[[object], bool], owners: Iterable[object], end_s: float) -> None:
        """`owners` are looked for, too: modules and optimizers."""
        self.is_complete = True
        self._is_tensor = is_tensor
        self._owners = {id(owner) for owner in owners}
        self._end_s = end_s
        self._objects: list[Any] = []
        self._parents: list[int] = []
        self._roots: dict[int, Root] = {}
        # Of owners that are variables themselves, the outermost: a method that runs has its object in `self`.
        self._outermost: dict[int, Root] = {}
        self._contexts: list[contextvars.Context] | None = None
        self._places: dict[int, int] = {}
        self._known: dict[tuple[Any, ...], Holder] = {}
        self._variables: dict[int, tuple[str, bool]] = {}
        # The ids of what is never a way: namespaces of modules, and what belongs to this search.
        self._seen: set[int] = {
            id(vars(module)) for module in list(sys.modules.values()) if module is not None
        }
        self._seen.update(
            id(own)
            for own in (
                self.__dict__,
                self._objects,
                self._parents,
                self._roots,
                self._owners,
                self._outermost,
            )
        )

    def search(self) -> None:
        """Finds all tensors: first from the program's own variables, then from those of libraries."""
        for roots in (self._noting(own_roots()), other_roots()):
            if not self._level(roots):
                self.is_complete = False
                return

    def _noting(self, roots: Iterable[Root]) -> Iterator[Root]:
        """The same roots; variables of owners are noted, from the innermost to the outermost."""
        for root in roots:
            if id(root.value) in self._owners and not root.is_first:
                known = self._outermost.get(id(root.value))
                # Of one function, the first: later ones are those of loops.
                if known is None or known.place != root.place:
                    self._outermost[id(root.value)] = root
            yield root

    def of_owner(self, owner: Any) -> Holder | None:
        """The holder of a module or an optimizer that was found: a variable that is it, if there is one."""
        root = self._outermost.get(id(owner))
        if root is None:
            return self.of(owner)
        key = (root.name, root.place)
        holder = Holder(root.name, root.place, root.name, None, self._places.get(id(owner), NOWHERE))
        return self._known.setdefault(key, holder)

    def distance(self, tensor: Any) -> int:
        """How far away a tensor was found: the greater, the farther."""
        return self._places.get(id(tensor), MAX_OBJECTS + 1)

    def of(self, tensor: Any, size: int = 0) -> Holder | None:
        """The holder of a tensor that was found, which has so many bytes."""
        at = self._places.get(id(tensor))
        if at is None:
            return None
        variable, root = self._open(at)[0], self._root(at)
        key = (variable, root.place)
        holder = self._known.get(key)
        if holder is None:
            holder = Holder(variable, root.place, self._way(at), self._collection(at), at)
            self._known[key] = holder
        else:
            holder.parting = self._common(holder.parting, at)
            if holder.largest_bytes < size:
                holder.example = self._way(at)
        holder.largest_bytes = max(holder.largest_bytes, size)
        return holder

    def finish(self) -> None:
        """Names the list or dictionary that has all tensors of a holder, where the variable is farther away."""
        for holder in self._known.values():
            at = holder.parting
            if at == NOWHERE or self._is_namespace(at):
                continue
            thing = self._objects[at]
            collection = collection_of(thing)
            if collection is not None and not self._open(at)[1] and MIN_ENTRIES <= len(thing):
                holder.variable, holder.collection = self._way(at), collection

    def _level(self, roots: Iterable[Root]) -> bool:
        """Goes through all that roots lead to; false if time or room is up."""
        # Millions of times: everything is a local name.
        objects, parents, seen, places = self._objects, self._parents, self._seen, self._places
        is_tracked, is_tensor, referents = gc.is_tracked, self._is_tensor, gc.get_referents
        owners = self._owners
        first = len(objects)
        for root in roots:
            # The collector need not know context variables.
            is_way = is_tracked(root.value) or type(root.value) is contextvars.ContextVar
            if is_way and id(root.value) not in seen:
                seen.add(id(root.value))
                self._roots[len(objects)] = root
                objects.append(root.value)
                parents.append(-1)
        # The list grows meanwhile.
        for at, thing in enumerate(itertools.islice(objects, first, None), first):
            if at % STRIDE == 0 and (self._end_s < time.monotonic() or MAX_OBJECTS < len(objects)):
                return False
            kind = type(thing)
            if kind in _PLAIN:
                children: Iterable[Any] = referents(thing)
            elif kind is contextvars.ContextVar:
                children = self._values_of(thing)
            else:
                if is_tensor(thing) or id(thing) in owners:
                    places[id(thing)] = at
                children = _referents(thing)
            for child in children:
                if id(child) not in seen and is_tracked(child):
                    seen.add(id(child))
                    objects.append(child)
                    parents.append(at)
        return True

    def _values_of(self, variable: contextvars.ContextVar[Any]) -> list[Any]:
        """The values of a context variable, which belong to the contexts: a thread has its own, and so has a task."""
        if self._contexts is None:
            self._contexts = [thing for thing in gc.get_objects() if type(thing) is contextvars.Context]
        return [context[variable] for context in self._contexts if variable in context]

    def _chain(self, at: int) -> Iterator[int]:
        while at >= 0:
            yield at
            at = self._parents[at]

    def _common(self, first: int, second: int) -> int:
        """The last object on the ways to both. On each way, numbers only grow."""
        while first != second:
            if first < second:
                second = self._parents[second]
            else:
                first = self._parents[first]
        return first

    def _root(self, at: int) -> Root:
        return self._roots[list(self._chain(at))[-1]]

    def _way(self, at: int) -> str:
        chain = list(self._chain(at))[::-1]
        way = self._roots[chain[0]].name
        for place in chain[1:]:
            way = joined(way, self._step(place))
        return way

    def _open(self, at: int) -> tuple[str, bool]:
        """The way to an object up to the first list or dictionary, and whether there was none so far."""
        todo: list[int] = []
        for place in self._chain(at):
            if place in self._variables:
                break
            todo.append(place)
        for place in reversed(todo):
            parent = self._parents[place]
            if parent < 0:
                self._variables[place] = (self._roots[place].name, True)
                continue
            way, is_open = self._variables[parent]
            holder = self._objects[parent]
            is_field = self._is_namespace(parent) or way.endswith(OF_MODULES)
            is_open = is_open and (is_field or not is_collection(holder))
            if is_open:
                way = joined(way, self._step(place))
            self._variables[place] = (way, is_open)
        return self._variables[at]

    def _collection(self, at: int) -> str | None:
        """The type of the first list or dictionary on the way to an object: there the variable ends."""
        chain = list(self._chain(at))[::-1]
        for parent, place in zip(chain, chain[1:]):
            if self._variables[parent][1] and not self._variables[place][1]:
                return collection_of(self._objects[parent])
        return None

    def _step(self, at: int) -> str:
        """How the parent of a place refers to it: an attribute through the dictionary that has it."""
        parent = self._parents[at]
        owner = self._parents[parent] if self._is_namespace(parent) else parent
        return step(self._objects[owner], self._objects[at])

    def _is_namespace(self, at: int) -> bool:
        """Whether a place is the dictionary of its parent's attributes."""
        thing, parent = self._objects[at], self._parents[at]
        if parent < 0 or type(thing) is not dict:
            return False
        try:
            return object.__getattribute__(self._objects[parent], "__dict__") is thing
        except (AttributeError, TypeError):
            return False


def _referents(thing: Any) -> Iterable[Any]:
    kind = type(thing)
    if issubclass(kind, _NOT_FOLLOWED):
        return ()
    if issubclass(kind, types.FunctionType):
        # Not its module's namespace, which leads everywhere.
        return [*(thing.__closure__ or ()), *(thing.__defaults__ or ()), thing.__dict__]
    return gc.get_referents(thing)
