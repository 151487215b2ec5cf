"""Every operator that a program runs, below autograd: which memory its results have, and what it takes meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .chance import Chance
from .kernels import WRITTEN, Kernels, flat
from .memo import Memo
from .special import SPECIAL
from .storages import HOST, Memory, Storages, device_of
from .values import Values

META = torch.device("meta")

PLAIN = (torch.Tensor, torch.nn.Parameter)

FAKE = torch._C._TorchDispatchModeKey.FAKE

FAKES = ("FakeTensor", "FunctionalTensor")

DYNAMIC = frozenset((torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))

# What may read memory of the CPU, and copies it.
TAKES_HOST = frozenset(("copy_", "_to_copy", "index", "_index_put_impl_", "index_put", "index_put_", "set_"))

# What surely fails where tensors are on different devices, beside what works element by element. Others read lengths or positions there.
STRICT = frozenset(
    ("mm", "addmm", "bmm", "baddbmm", "mv", "dot", "embedding", "convolution", "native_layer_norm", "cat")
)

# What is computed on the CPU to know the sizes of its results is no larger.
MAX_BYTES = 1 << 26


# Operators between two looks at the clock.
OFTEN = 256


def _nothing() -> None:
    pass


class Dispatch(TorchDispatchMode):
    """Gives operators tensors without memory, and follows their storages."""

    def __init__(self, storages: Storages, values: Values, kernels: Kernels) -> None:
        super().__init__()
        self.storages = storages
        self.values = values
        self.kernels = kernels
        self._composite: dict[Any, bool] = {}
        self._memo = Memo()
        self.chance = Chance()
        # Whether the last operator took tensors that are meant to have no memory, and no others.
        self._is_bare = False
        # Asked now and then, as a program may have no modules.
        self.now_and_then: Callable[[], None] = _nothing
        self._count = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # There is no compiler to hide from, and the way around it takes time.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch._C._get_dispatch_mode(FAKE) is not None:
            # torch asks for sizes alone.
            return func(*args, **(kwargs or {}))
        if any(kind not in PLAIN for kind in types):
            # Other classes, such as a tensor that is spread over devices, are made of tensors that are seen then.
            is_fake = any(kind.__name__ in FAKES for kind in types)
            return func(*args, **(kwargs or {})) if is_fake else NotImplemented
        with torch._C.DisableTorchFunction():
            return self.run(func, args, dict(kwargs or {}))

    def run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The results of an operator, which have their memory then."""
        self._count += 1
        if not self._count % OFTEN:
            self.now_and_then()
        tensors = flat((args, tuple(kwargs.values())))
        memories = [self.storages.of(tensor) for tensor in tensors if tensor.device.type == "meta"]
        is_pretended = any(memories)
        if memories:
            self._is_bare = not is_pretended
        target = self._target(kwargs)
        is_placed = any(isinstance(one, torch.device) and one.type == "cuda" for one in args)
        if target is None and not is_pretended and not is_placed:
            return func(*args, **kwargs)
        if self._is_made_of_others(func):
            # Only inference mode shows such; else torch takes them apart before.
            with self:
                return func.decompose(*args, **kwargs)
        name = func._schema.name
        written = WRITTEN.get(name) if is_pretended else None
        if written is not None:
            with self:
                result = written(*args, **kwargs)
            if result is not NotImplemented:
                return result
        special = SPECIAL.get(name)
        if special is not None and is_pretended:
            result = special(self, func, args, kwargs)
            if result is not NotImplemented:
                return result
        device = target if target is not None else device_of(memories)
        if any(is_on_host(tensor) for tensor in tensors):
            args, kwargs = self._without_host(func, args, kwargs, memories)
            tensors = flat((args, tuple(kwargs.values())))
        if "generator" in kwargs:
            # It is one of the CPU, whatever the program thinks.
            kwargs["generator"] = None
        if target is not None:
            kwargs["device"] = META
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if DYNAMIC & set(func.tags) and not self._is_by_positions(name, tensors):
            return self.by_values(func, args, kwargs, device)
        try:
            results = self._memo.results(func, args, kwargs, self._has_memory)
        except NotImplementedError:
            results = self._like_host(func, args, kwargs)
        found = flat(results)
        self.kernels.run(func, args, kwargs, results, device)
        self.values.follow(func, args, kwargs, tensors, found)
        return results

    def _has_memory(self, tensor: Any) -> bool:
        return self.storages.of(tensor) is not None

    def _is_by_positions(self, name: str, tensors: list[Any]) -> bool:
        """Whether it takes what is not known at positions, of which there are as many as results; masks are positions by then."""
        return name == "aten::index" and any(self.values.known(tensor) is None for tensor in tensors)

    def _is_made_of_others(self, func: Any) -> bool:
        known = self._composite.get(func)
        if known is None:
            composite = "CompositeImplicitAutograd"
            has = torch._C._dispatch_has_kernel_for_dispatch_key
            name = func.name()
            known = has(name, composite) and not has(name, "CPU") and not has(name, "CUDA")
            self._composite[func] = known
        return known

    def born(self, result: Any, device: int) -> Memory:
        """The memory of a result, which may be new, or have another size than before."""
        return self.kernels.born(result, device)

    def _like_host(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Results of an operator that torch has for devices only: as the CPU's are for zeros."""
        tree = torch.utils._pytree
        tensors = [one for one in tree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        if MAX_BYTES < sum(one.numel() * one.element_size() for one in tensors):
            raise NotImplementedError(f"{func} is not known without memory")
        real = tree.tree_map_only(torch.Tensor, self.values.or_zeros, (args, kwargs))
        if real[1].get("device") is not None:
            real[1]["device"] = torch.device("cpu")
        results = func(*real[0], **real[1])

        def bare(one: Any) -> Any:
            for before, value in zip(tensors, tree.tree_leaves(real)):
                if value is one:
                    return before
            return torch.empty_strided(one.size(), one.stride(), dtype=one.dtype, device=META)

        return tree.tree_map_only(torch.Tensor, bare, results)

    def by_values(self, func: Any, args: Any, kwargs: Any, device: int) -> Any:
        """An operator whose results have sizes that depend on values, on the CPU."""
        name = func._schema.name.split("::")[1]
        real = torch.utils._pytree.tree_map_only(
            torch.Tensor,
            lambda tensor: self.values.decide(tensor, f"{name} of unknown numbers"),
            (args, kwargs),
        )
        if real[1].get("device") is not None:
            real[1]["device"] = torch.device("cpu")
        found = func(*real[0], **real[1])
        pairs: list[tuple[Any, Any]] = []

        def bare(value: Any) -> Any:
            result = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=META)
            pairs.append((result, value))
            return result

        results = torch.utils._pytree.tree_map_only(torch.Tensor, bare, found)
        self.kernels.run(func, args, kwargs, results, device)
        is_guess = any(self.values.is_guess(one) for one in flat((args, tuple(kwargs.values()))))
        for result, value in pairs:
            memory = self.born(result, device)
            memory.is_guess = is_guess
            memory.known = (
                value.clone().untyped_storage() if value.storage_offset() else value.untyped_storage()
            )
        return results

    def on_device(self, tensor: Any, device: int) -> Any:
        """A tensor on a pretended device with the values of one of the CPU."""
        result = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=META)
        memory = self.storages.add(result, device)
        memory.known = (
            tensor.clone().untyped_storage() if tensor.storage_offset() else tensor.untyped_storage()
        )
        return result

    def _target(self, kwargs: dict[str, Any]) -> int | None:
        """The pretended device that an operator is asked to make its results on."""
        device = kwargs.get("device")
        if device is None:
            return None
        if device.type == "cuda":
            self._is_bare = False
            return int(device.index or 0)
        # What torch makes in C++ like a tensor of ours is on the device, too. A program that asks for no memory means it, and so does what
        # torch makes amid operators on such tensors, as in their backward pass.
        is_meant = self.storages.bared or self._is_bare
        return self.storages.current if device.type == "meta" and not is_meant else None

    def _without_host(self, func: Any, args: Any, kwargs: Any, memories: list[Memory | None]) -> Any:
        """Arguments of the CPU as tensors without memory, where the operator may take them."""
        name = func._schema.name.split("::")[1]
        on_devices = [memory.device for memory in memories if memory is not None and memory.device != HOST]
        is_strict = torch.Tag.pointwise in func.tags or name in STRICT
        if on_devices and is_strict and name not in TAKES_HOST:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"cuda:{on_devices[0]} and cpu! (when checking arguments for {func})"
            )
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda one: self.values.twin(one) if is_on_host(one) else one, (args, kwargs)
        )


def is_on_host(tensor: Any) -> bool:
    """Whether a tensor has memory of the CPU. A single number is as good as a number."""
    return tensor.device.type == "cpu" and tensor.dim() != 0
