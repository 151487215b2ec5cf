"""The names that a program gives to tensors: paths in modules, states of optimizers, gradients of parameters.

Everything is read from the dictionaries of objects, never through attributes, which a program may define as it likes.
"""

from __future__ import annotations

import contextlib
import dis
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

# Entries of one state of an optimizer that are looked at.
MAX_ENTRIES = 100

# Modules whose places are written: those of the largest models are a tenth.
MAX_PLACES = 100_000

# Classes whose slots are remembered.
MAX_CLASSES = 1000

# Weakly, as they are the program's.
_MEMBERS: weakref.WeakKeyDictionary[type, list[types.MemberDescriptorType]] = weakref.WeakKeyDictionary()

# Decorators around a `forward` that are looked through.
MAX_WRAPPERS = 16


class Owner(NamedTuple):
    """Who holds a tensor: an outermost module or an optimizer."""

    kind: str
    class_name: str
    number: int


class Role(NamedTuple):
    """What a tensor is to its owner."""

    kind: str
    name: str | None = None
    owner: Owner | None = None
    # Which of an optimizer's states.
    key: str | None = None
    # The shape of what this is a shard of.
    whole: tuple[int, ...] | None = None
    # Who has the parameter that a state is of.
    of: Owner | None = None


class Class(NamedTuple):
    """A class of modules, and the first and last line of its `forward`; 0 where it has none."""

    name: str
    file: str
    line: int
    last: int


class Place(NamedTuple):
    """A module within an outermost one, by its path."""

    owner: Owner
    path: str
    kind: Class


class Names:
    """Roles of tensors. It holds what it names, so that no other object takes the same place meanwhile."""

    def __init__(
        self,
        is_tensor: Callable[[object], bool],
        memory_of: Callable[[Any], tuple[int, int] | None],
        is_simple: Callable[[Any], bool] = lambda tensor: False,
    ) -> None:
        """`is_simple` says of a tensor without memory on a device that no other holds it: counters of optimizers are many."""
        self._is_tensor = is_tensor
        self._memory_of = memory_of
        self._is_simple = is_simple
        self._roles: dict[int, tuple[Any, Role, tuple[int, int] | None]] = {}
        self.owners: list[tuple[Owner, Any]] = []
        self.places: list[Place] = []
        # Outermost modules with a parameter that an optimizer has.
        self.trained: set[Owner] = set()
        self._classes: dict[type, Class] = {}

    def found(self) -> list[tuple[Any, Role, tuple[int, int] | None]]:
        """All tensors with a role, and the memory of each."""
        return list(self._roles.values())

    def of_modules(self, modules: list[Any]) -> Iterator[None]:
        """Names what modules hold: by the path within each outermost one."""
        inner = {id(child) for module in modules for child in _entries(module, "_modules").values()}
        for root in modules:
            if id(root) not in inner:
                owner = self._owner("module", root)
                for path, module in walk(root):
                    yield
                    self._of_module(path, module, owner)

    def _of_module(self, path: str, module: Any, owner: Owner) -> None:
        if len(self.places) < MAX_PLACES:
            self.places.append(Place(owner, path, self._class(type(module))))
        for kind, place in (("parameter", "_parameters"), ("buffer", "_buffers")):
            for key, tensor in _entries(module, place).items():
                if self._is_tensor(tensor):
                    name = f"{path}.{key}" if path else str(key)
                    self._name(tensor, Role(kind, name, owner))
                    self._name_gradient(tensor, name, owner)

    def of_optimizers(self, optimizers: list[Any]) -> Iterator[None]:
        """Names the states of optimizers, by their parameters, and parameters that no module has."""
        for optimizer in optimizers:
            owner = self._owner("optimizer", optimizer)
            attributes = _attributes(optimizer)
            groups = attributes.get("param_groups")
            parameters = [
                (f"{group_at}.{at}", parameter)
                for group_at, group in enumerate(groups if isinstance(groups, list) else [])
                for at, parameter in enumerate(_parameters(group))
                if self._is_tensor(parameter)
            ]
            places = {id(parameter): place for place, parameter in parameters}
            for place, parameter in parameters:
                yield
                known = self._roles.get(id(parameter))
                if known and known[1].owner and known[1].kind == "parameter":
                    self.trained.add(known[1].owner)
                if id(parameter) not in self._roles:
                    self._name(parameter, Role("optimizer_parameter", place, owner))
                    self._name_gradient(parameter, place, owner)
            for parameter, entry in _items(attributes.get("state")):
                yield
                named = self._roles.get(id(parameter))
                name = named[1].name if named else places.get(id(parameter))
                for key, tensor in _tensors_of(entry, self._is_tensor):
                    of = named[1].owner if named else None
                    self._name(tensor, Role("optimizer_state", name, owner, key, of=of))

    def gradient_of(self, tensor: Any) -> Any | None:
        """The gradient of a leaf. Others have none, and warn."""
        try:
            return tensor.grad if tensor.requires_grad and tensor.is_leaf else None
        except Exception:  # noqa: BLE001 - a tensor that belongs to the program answers as it likes
            return None

    def _name_gradient(self, parameter: Any, name: str, owner: Owner) -> None:
        gradient = self.gradient_of(parameter)
        if gradient is not None:
            self._name(gradient, Role("gradient", name, owner))

    def _name(self, tensor: Any, role: Role) -> None:
        if id(tensor) in self._roles:
            return
        memory = self._memory_of(tensor)
        self._roles[id(tensor)] = (tensor, role, memory)
        if memory is not None or self._is_simple(tensor):
            return
        # A wrapper, as a DTensor, has its memory in tensors of its own, and so has a sparse one.
        for inner in (*_attributes(tensor).values(), *_slots(tensor), *_sparse_parts(tensor)):
            if self._is_tensor(inner) and id(inner) not in self._roles:
                whole = _shape(tensor)
                self._roles[id(inner)] = (inner, role._replace(whole=whole), self._memory_of(inner))

    def _class(self, kind: type) -> Class:
        found = self._classes.get(kind)
        if found is None:
            found = self._classes[kind] = Class(kind.__name__, *forward_of(kind))
        return found

    def _owner(self, kind: str, thing: Any) -> Owner:
        owner = Owner(kind, type(thing).__name__, len(self.owners))
        self.owners.append((owner, thing))
        return owner


def forward_of(kind: type) -> tuple[str, int, int]:
    """The file and the first and last line of what a call of such a module runs; 0 where a class has none of its own, as a list of
    modules."""
    bases = type.__getattribute__(kind, "__mro__")
    found = next((vars(base)["forward"] for base in bases if "forward" in vars(base)), None)
    for _ in range(MAX_WRAPPERS):
        inner = vars(found).get("__wrapped__") if isinstance(found, types.FunctionType) else None
        if inner is None:
            break
        found = inner
    if not isinstance(found, types.FunctionType) or found.__name__ == "_forward_unimplemented":
        return "", 0, 0
    code = found.__code__
    return code.co_filename, code.co_firstlineno, _last_line(code)


def _last_line(code: types.CodeType) -> int:
    """The last line of a function, with those in it."""
    inner = [_last_line(const) for const in code.co_consts if isinstance(const, types.CodeType)]
    lines = [line for _, line in dis.findlinestarts(code) if line is not None]
    return max([code.co_firstlineno, *lines, *inner])


def walk(root: Any) -> Iterator[tuple[str, Any]]:
    """A module and all below it, with their paths; a module that is in two places has the first."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        children = _entries(module, "_modules").items()
        waiting.extend(
            (f"{path}.{key}" if path else str(key), child) for key, child in reversed(list(children))
        )


def tensors_of(module: Any) -> list[tuple[Any, bool]]:
    """The parameters and buffers that a module has itself, and whether each is a parameter."""
    return [
        (tensor, place == "_parameters")
        for place in ("_parameters", "_buffers")
        for tensor in _entries(module, place).values()
    ]


def _attributes(thing: Any) -> dict[Any, Any]:
    """The dictionary of an object, as it is at one moment: other threads may change it."""
    try:
        found = object.__getattribute__(thing, "__dict__")
        return dict(found) if isinstance(found, dict) else {}
    except (AttributeError, RuntimeError, TypeError):
        return {}


def _sparse_parts(tensor: Any) -> Iterator[Any]:
    """The tensors that hold the values of a sparse one, and their places: the same memory, not copies."""
    with contextlib.suppress(Exception):
        if tensor.is_cuda and tensor.is_sparse:
            # A mode would run the program's code for it.
            with sys.modules["torch"]._C._DisableTorchDispatch():
                parts = tensor._values(), tensor._indices()
            yield from parts


def _slots(thing: Any) -> Iterator[Any]:
    """What an object has in slots."""
    for member in _members(type(thing)):
        with contextlib.suppress(AttributeError):
            yield member.__get__(thing)


def _members(kind: type) -> list[types.MemberDescriptorType]:
    """The slots of a class: those of tensors have hundreds of attributes to look through."""
    if kind not in _MEMBERS:
        bases = type.__getattribute__(kind, "__mro__")
        members = (member for base in bases for member in list(vars(base).values()))
        found = [member for member in members if isinstance(member, types.MemberDescriptorType)]
        if len(_MEMBERS) == MAX_CLASSES:
            return found
        _MEMBERS[kind] = found
    return _MEMBERS[kind]


def _entries(module: Any, name: str) -> dict[Any, Any]:
    """The modules, parameters or buffers of a module, without those that are `None`."""
    return {key: value for key, value in _items(_attributes(module).get(name)) if value is not None}


def _items(mapping: Any) -> list[tuple[Any, Any]]:
    """The entries of a dictionary of any kind, read as a plain one."""
    try:
        return list(dict.items(mapping)) if isinstance(mapping, dict) else []
    except RuntimeError:
        return []


def _parameters(group: Any) -> list[Any]:
    found = dict(_items(group)).get("params")
    return list(found) if isinstance(found, (list, tuple)) else []


def _tensors_of(entry: Any, is_tensor: Callable[[object], bool]) -> Iterator[tuple[str, Any]]:
    """The tensors of one state, and those in lists and dictionaries within it."""
    for key, value in _items(entry)[:MAX_ENTRIES]:
        if is_tensor(value):
            yield str(key), value
            continue
        inner = _items(value) or list(enumerate(value) if isinstance(value, (list, tuple)) else [])
        for inner_key, inner_value in inner[:MAX_ENTRIES]:
            if is_tensor(inner_value):
                yield f"{key}.{inner_key}", inner_value


def _shape(tensor: Any) -> tuple[int, ...] | None:
    try:
        return tuple(int(size) for size in tensor.shape)
    except Exception:  # noqa: BLE001 - a tensor that belongs to the program answers as it likes
        return None
