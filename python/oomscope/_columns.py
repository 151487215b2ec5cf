"""The table of a census: columns of numbers, with every text, shape and owner written once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

from ._holders import Holder
from ._names import Class, Owner, Place, Role
from ._redaction import Redaction

Key = TypeVar("Key", bound=Hashable)

# What stands where there is nothing.
NOTHING = -1

COLUMNS = (
    "device",
    "address",
    "bytes",
    "offset",
    "dtype",
    "shape",
    "stride",
    "requires_grad",
    "grad_fn",
    "role",
    "name",
    "owner",
    "key",
    "whole",
    "holder",
    "parameter_owner",
)


class _Once(Generic[Key]):
    """Values with numbers, each once."""

    def __init__(self) -> None:
        self.numbers: dict[Key, int] = {}

    def number(self, value: Key | None) -> int:
        return NOTHING if value is None else self.numbers.setdefault(value, len(self.numbers))


class Columns:
    """Tensors, a row each."""

    def __init__(self, redaction: Redaction | None = None) -> None:
        self._redaction = redaction
        self.addresses: set[int] = set()
        self.are_holders_complete = False
        self._texts: _Once[str] = _Once()
        self._shapes: _Once[tuple[int, ...]] = _Once()
        self._owners: _Once[Owner] = _Once()
        self._holders: _Once[Holder] = _Once()
        self._held: dict[Owner, Holder] = {}
        self._classes: _Once[Class] = _Once()
        self._places: list[Place] = []
        self._trained: set[Owner] | None = None
        self._rows: list[tuple[int, ...]] = []
        self._dtypes: dict[Any, int] = {}
        self._kinds: dict[Hashable, tuple[int, int, int, int]] = {}

    def add(
        self, tensor: Any, role: Role | None, address: int, size: int, holder: Holder | None = None
    ) -> None:
        """Adds a tensor whose storage begins at an address and has a size."""
        shape = tuple(map(int, tensor.shape))
        stride = None if tensor.is_contiguous() else tuple(map(int, tensor.stride()))
        grad_fn, dtype = tensor.grad_fn, tensor.dtype
        if dtype not in self._dtypes:
            self._dtypes[dtype] = self._texts.number(str(dtype).removeprefix("torch."))
        kind = None if role is None else (role.kind, role.owner, role.key, role.of)
        if kind not in self._kinds:
            self._kinds[kind] = self._numbers_of(role or Role(""))
        of_kind = self._kinds[kind]
        self.addresses.add(address)
        self._rows.append(
            (
                tensor.device.index or 0,
                address,
                size,
                int(tensor.storage_offset()),
                self._dtypes[dtype],
                self._shapes.number(shape),
                self._shapes.number(stride),
                int(tensor.requires_grad),
                NOTHING if grad_fn is None else self._texts.number(type(grad_fn).__name__),
                of_kind[0],
                NOTHING if role is None else self._name(role.name),
                of_kind[1],
                of_kind[2],
                NOTHING if role is None else self._shapes.number(role.whole),
                self._holders.number(holder),
                of_kind[3],
            )
        )

    def _numbers_of(self, role: Role) -> tuple[int, int, int, int]:
        """What all tensors have in common that are the same to the same owner."""
        text, owner = self._texts.number, self._owners.number
        return text(role.kind or None), owner(role.owner), text(role.key), owner(role.of)

    def add_holder(self, owner: Owner, holder: Holder | None) -> None:
        """Says who holds a module or an optimizer."""
        if holder is not None:
            self._held[owner] = holder

    def add_places(self, places: list[Place], trained: set[Owner]) -> None:
        """Adds the modules within those that own a tensor, and says which of these are trained."""
        self._trained = trained
        self._places = [place for place in places if place.owner in self._owners.numbers]

    def _name(self, name: str | None) -> int:
        """The number of a name of the program's."""
        hide = None if self._redaction is None else self._redaction.hide
        return self._texts.number(name if name is None or hide is None else hide(name))

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        text, name = self._texts.number, self._name
        owners = [
            (
                text(owner.kind),
                text(owner.class_name) if owner.kind == "optimizer" else name(owner.class_name),
                owner.number,
                self._holders.number(self._held.get(owner)),
                NOTHING if self._trained is None else int(owner in self._trained),
            )
            for owner in self._owners.numbers
        ]
        holders = [
            (
                name(holder.variable),
                name(holder.example),
                text(holder.place.function),
                text(holder.place.file),
                holder.place.line,
                text(holder.collection),
            )
            for holder in self._holders.numbers
        ]
        modules = [
            (self._owners.number(place.owner), name(place.path), self._classes.number(place.kind))
            for place in self._places
        ]
        classes = [
            (name(kind.name), text(kind.file or None), kind.line, kind.last) for kind in self._classes.numbers
        ]
        return {
            "texts": list(self._texts.numbers),
            "shapes": list(self._shapes.numbers),
            "owners": _columns(("kind", "class", "number", "holder", "trained"), owners),
            "holders": _columns(("variable", "example", "function", "file", "line", "collection"), holders),
            "modules": _columns(("owner", "path", "class"), modules),
            "classes": _columns(("name", "file", "line", "last"), classes),
            "holders_complete": self.are_holders_complete,
            "tensors": _columns(COLUMNS, self._rows),
        }


def _columns(names: tuple[str, ...], rows: Sequence[tuple[int, ...]]) -> dict[str, list[int]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
