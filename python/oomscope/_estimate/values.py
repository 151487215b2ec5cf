"""Values, where they decide what a program does: small ones are computed on the CPU, beside the tensors that have none.

What is copied to a device, what is made of constants and what follows from those is known. What follows from parameters and
activations is not: where a program asks for it, it gets a stand-in, which is noted. Numbers are standard normal, the same in each run,
so that comparisons, `topk` and `argmax` give what is neither the best nor the worst case; a single number is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .storages import HOST, Memory, Storages

# Elements that are computed: texts, masks and positions; of floating-point numbers only those of settings and sums.
MAX_ELEMENTS = 1 << 20
MAX_FLOATS = 1 << 12

# What asks for the order or the sign of numbers, not for the numbers.
ORDERS = frozenset(
    [
        "topk",
        "sort",
        "argsort",
        "argmax",
        "argmin",
        "max",
        "min",
        "multinomial",
        "gt",
        "lt",
        "ge",
        "le",
        "eq",
        "ne",
        "isnan",
        "isinf",
        "isfinite",
        "kthvalue",
        "median",
        "msort",
        "bernoulli",
        "searchsorted",
        "bucketize",
    ]
)

# Of unknown numbers none is found that is odd, and all are as they should be.
FOUND = {"any": False, "all": True}

# What gives memory with nothing in it: as indexes, such numbers would lead anywhere.
EMPTY = frozenset(["empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"])

# What writes all of its first argument, whatever was there.
WHOLE = frozenset(["copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "set_"])


class Values:
    """The values that are known."""

    def __init__(self, torch: Any, storages: Storages, note: Callable[[str], None]) -> None:
        self._torch = torch
        self._storages = storages
        self._note = note
        self._count = 0
        # Whether stand-ins decided how large something is; and whether they are all the same, so that one expert gets everything.
        self.have_decided = False
        self.are_zeros = False

    def known(self, tensor: Any) -> Any | None:
        """A tensor of the CPU with the same values; `None` if they are not known."""
        if tensor.device.type != "meta":
            return tensor
        memory = self._storages.of(tensor)
        return None if memory is None or memory.known is None else self._view(tensor, memory)

    def get(self, tensor: Any, why: str) -> Any:
        """A tensor of the CPU with the values, or with stand-ins, which are known from then on."""
        known = self.known(tensor)
        if known is not None:
            return known
        self._note(why)
        memory = self._storages.of(tensor)
        stand_in = self._stand_in(tensor)
        if memory is None or not _covers(tensor, memory):
            return stand_in
        memory.known = stand_in.untyped_storage()
        memory.is_guess = True
        return self._view(tensor, memory)

    def decide(self, tensor: Any, why: str) -> Any:
        """The same, where the values decide how large something is."""
        found = self.get(tensor, why)
        self.have_decided = self.have_decided or self.is_guess(tensor)
        return found

    def is_guess(self, tensor: Any) -> bool:
        """Whether the values that are known of a tensor are stand-ins, or follow from them."""
        memory = self._storages.of(tensor) if tensor.device.type == "meta" else None
        return memory is not None and (memory.known is None or memory.is_guess)

    def or_zeros(self, tensor: Any) -> Any:
        """A tensor of the CPU with the values, or zeros."""
        known = self.known(tensor)
        return _zeros(self._torch, tensor) if known is None else known

    def twin(self, tensor: Any) -> Any:
        """A tensor without memory for one of the CPU, with its values."""
        # What is computed with it must not change it.
        copy = tensor.detach()
        if tensor.storage_offset() or tensor.numel() <= MAX_FLOATS:
            copy = self._torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype).copy_(tensor)
        with self._storages.bare():
            twin = self._torch.empty_strided(
                tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta"
            )
        self._storages.add(twin, HOST).known = copy.untyped_storage()
        return twin

    def follow(self, func: Any, args: Any, kwargs: Any, inputs: Iterable[Any], results: list[Any]) -> None:
        """Computes what an operator gave, where all that it took is known and little; else forgets what it wrote."""
        inputs = list(inputs)
        name = func._schema.name.split("::")[1]
        written = [tensor for tensor in _written(func, args, kwargs) if tensor.device.type == "meta"]
        if name not in EMPTY and self._is_little(name, results) and self._are_known(name, inputs, written):
            try:
                self._compute(func, args, kwargs, inputs, results)
                return
            except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError):
                # Not every operator of a device has one of the CPU.
                pass
        for tensor in written:
            memory = self._storages.of(tensor)
            if memory is not None:
                memory.known = None
        if name in FOUND and results and results[0].numel() == 1:
            memory = self._storages.of(results[0])
            if memory is not None and _covers(results[0], memory):
                memory.known = self._torch.full((), FOUND[name], dtype=results[0].dtype).untyped_storage()

    def _are_known(self, name: str, inputs: list[Any], written: list[Any]) -> bool:
        """Whether all values that an operator takes are known; what is asked for its order alone gets stand-ins."""
        for tensor in inputs:
            if self.known(tensor) is not None:
                continue
            memory = self._storages.of(tensor)
            if memory is None or not _covers(tensor, memory):
                return False
            if name in WHOLE and any(tensor is one for one in written):
                memory.known = self._torch.UntypedStorage(memory.nbytes)
            elif (
                name in ORDERS
                and memory.device != HOST
                and tensor.numel() <= MAX_ELEMENTS
                and tensor.is_floating_point()
            ):
                self.get(tensor, f"{name} of unknown numbers: normal ones")
            else:
                return False
        return True

    def _compute(self, func: Any, args: Any, kwargs: Any, inputs: list[Any], results: list[Any]) -> None:
        tree = self._torch.utils._pytree
        tensor_type = self._torch.Tensor

        def real(value: Any) -> Any:
            return self.known(value) if isinstance(value, tensor_type) else value

        real_args, real_kwargs = tree.tree_map(real, (args, kwargs))
        if real_kwargs.get("device") is not None:
            real_kwargs["device"] = self._torch.device("cpu")
        is_whole = func._schema.name.split("::")[1] in WHOLE
        written = list(_written(func, args, kwargs))
        taken = [one for one in inputs if not (is_whole and any(one is other for other in written))]
        is_guess = any(self.is_guess(one) for one in taken)
        found = func(*real_args, **real_kwargs)
        for result, value in zip(results, _flat(found, tensor_type)):
            memory = self._storages.of(result)
            if memory is None:
                continue
            if memory.known is not None:
                # Written in place, or a part of what is known.
                if any(result is one for one in written):
                    is_all = is_whole and _covers(result, memory)
                    memory.is_guess = is_guess or (memory.is_guess and not is_all)
                continue
            if value.stride() != result.stride() or value.storage_offset():
                value = self._torch.empty_strided(result.size(), result.stride(), dtype=value.dtype).copy_(
                    value
                )
            if value.dtype == result.dtype:
                memory.known = value.untyped_storage()
                memory.is_guess = is_guess

    def _is_little(self, name: str, results: list[Any]) -> bool:
        # The numbers beside an order are not used; the order is.
        most_floats = MAX_ELEMENTS if name in ORDERS else MAX_FLOATS
        return all(
            tensor.numel()
            <= (most_floats if tensor.is_floating_point() or tensor.is_complex() else MAX_ELEMENTS)
            for tensor in results
        )

    def _view(self, tensor: Any, memory: Memory) -> Any:
        empty = self._torch.empty(0, dtype=tensor.dtype)
        return empty.set_(memory.known, tensor.storage_offset(), tensor.size(), tensor.stride())

    def _stand_in(self, tensor: Any) -> Any:
        """Values in place of unknown ones."""
        torch = self._torch
        stand_in = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        if tensor.numel() == 1:
            return stand_in.fill_(1)
        if self.are_zeros:
            return _zeros(torch, tensor)
        if not (tensor.is_floating_point() or tensor.is_complex()) or MAX_ELEMENTS < tensor.numel():
            return _zeros(torch, tensor)
        # Others each time: a program may try until it has what it wants.
        self._count += 1
        generator = torch.Generator().manual_seed(self._count)
        return stand_in.normal_(generator=generator)


def _zeros(torch: Any, tensor: Any) -> Any:
    # Pages that nobody writes take no memory.
    size = sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride())) + 1
    flat = torch.zeros(size if tensor.numel() else 0, dtype=tensor.dtype)
    return flat.as_strided(tensor.size(), tensor.stride())


def _covers(tensor: Any, memory: Memory) -> bool:
    """Whether a tensor is all of its storage."""
    return bool(tensor.numel() * tensor.element_size() == memory.nbytes)


def _written(func: Any, args: Any, kwargs: Any) -> Iterable[Any]:
    """What an operator writes in place."""
    schema = func._schema
    if not schema.is_mutable:
        return
    for at, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[at] if at < len(args) else kwargs.get(argument.name)
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if one is not None:
                    yield one


def _flat(found: Any, kind: type) -> list[Any]:
    if isinstance(found, kind):
        return [found]
    if isinstance(found, (list, tuple)):
        return [one for value in found for one in _flat(value, kind)]
    return []
