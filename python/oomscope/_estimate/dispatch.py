"""Every operator that a program runs, below autograd: which memory its results have, and what it takes meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .attention import VERSION
from .kernels import WRITTEN, Kernels, flat, is_dense
from .memo import Memo
from .notes import NUMBER
from .stacks import ENGINE
from .storages import HOST, Memory, Storages
from .values import Values

META = torch.device("meta")

PLAIN = (torch.Tensor, torch.nn.Parameter)

FAKE = torch._C._TorchDispatchModeKey.FAKE

FAKES = ("FakeTensor", "FunctionalTensor")

# What may read memory of the CPU, and copies it.
TAKES_HOST = frozenset(("copy_", "_to_copy", "index", "_index_put_impl_", "index_put", "index_put_", "set_"))

# What surely fails where tensors are on different devices, beside what works element by element. Others read lengths or positions there.
STRICT = frozenset(
    ("mm", "addmm", "bmm", "baddbmm", "mv", "dot", "embedding", "convolution", "native_layer_norm", "cat")
)

# What is computed on the CPU to know the sizes of its results is no larger.
MAX_BYTES = 1 << 26

Handler = Callable[["Dispatch", Any, Any, dict[str, Any]], Any]


class Dispatch(TorchDispatchMode):
    """Gives operators tensors without memory, and follows their storages."""

    def __init__(self, storages: Storages, values: Values, kernels: Kernels) -> None:
        super().__init__()
        self.storages = storages
        self.values = values
        self.kernels = kernels
        self._composite: dict[Any, bool] = {}
        self._memo = Memo()

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
            return self._run(func, args, dict(kwargs or {}))

    def _run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        tensors = flat((args, tuple(kwargs.values())))
        memories = [self.storages.of(tensor) for tensor in tensors if tensor.device.type == "meta"]
        is_pretended = any(memories)
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
        device = target if target is not None else _device_of(memories)
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
        if DYNAMIC & set(func.tags):
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
            torch.Tensor, lambda tensor: self.values.get(tensor, f"{name} of unknown numbers"), (args, kwargs)
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
        for result, value in pairs:
            memory = self.born(result, device)
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
            return int(device.index or 0)
        # What torch makes in C++ like a tensor of ours is on the device, too; a program that asks for no memory means it.
        return self.storages.current if device.type == "meta" and not self.storages.bared else None

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


def _device_of(memories: list[Memory | None]) -> int:
    for memory in memories:
        if memory is not None and memory.device != HOST:
            return memory.device
    return HOST


def _item(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    return func(mode.values.get(args[0], NUMBER))


def _to_host(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """A copy for the CPU."""
    device = kwargs.get("device")
    if device is None or device.type != "cpu":
        return NotImplemented
    kwargs.pop("pin_memory", None)
    return func(mode.values.get(args[0], "values of the device are copied to the CPU"), **kwargs)


def _copy(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """A copy into a tensor of the CPU."""
    if args[0].device.type != "cpu":
        return NotImplemented
    return func(args[0], mode.values.get(args[1], "values of the device are copied to the CPU"), *args[2:])


def _first(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """What changes nothing that matters."""
    return args[0]


def _nothing(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    return None


def _index(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Rows that a mask selects: how many is a question of values. Other indexes are as any operator."""
    masks = (torch.bool, torch.uint8)
    if not any(index is not None and index.dtype in masks for index in args[1]):
        return (
            _in_place(mode, func, args, kwargs) if func._schema.name == "aten::index_put" else NotImplemented
        )
    indexes: list[Any] = []
    for index in args[1]:
        if index is None or index.dtype not in masks:
            indexes.append(index)
            continue
        positions = mode.values.get(index, "rows that an unknown mask selects").nonzero().unbind(1)
        indexes += [
            mode.on_device(one.contiguous(), _device_of([mode.storages.of(args[0])])) for one in positions
        ]
    return mode._run(func, (args[0], indexes, *args[2:]), kwargs)


def _select(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Only the mask decides on sizes."""
    tensor, mask = torch.broadcast_tensors(args[0], args[1])
    count = int(mode.values.get(mask, "what an unknown mask selects").sum())
    result = torch.empty(count, dtype=tensor.dtype, device=META)
    mode.born(result, _device_of([mode.storages.of(args[0])]))
    return result


def _pack(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Lengths of sequences are numbers of the CPU, and so is how many go on at each step."""
    tensor, lengths = args[:2]
    if lengths.device.type != "cpu":
        return NotImplemented
    steps = int(lengths[0])
    sizes = torch.stack([(lengths > step).sum() for step in range(steps)])
    rest = tensor.size()[2:]
    data = tensor.new_empty((int(lengths.sum()), *rest))
    mode.born(data, _device_of([mode.storages.of(tensor)]))
    return data, sizes


def _equal(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    known = [mode.values.known(tensor) for tensor in args]
    return func(*known) if all(one is not None for one in known) else True


def _is_from_engine() -> bool:
    """Whether the engine of autograd asks for an operator itself."""
    if torch._C._current_graph_task_id() == -1 or torch.is_grad_enabled():
        return False
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_name == ENGINE


def _in_place(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Formulas of gradients write into a tensor of zeros, which they do not where a mode watches."""
    first = args[0]
    if not _is_from_engine() or first._use_count() not in (SOLE, SOLE + 1) or not is_dense(first):
        return NotImplemented
    memory = mode.storages.of(first)
    if memory is None:
        return NotImplemented
    memory.known = None
    mode.kernels.run(func, args, kwargs, first, memory.device)
    return first


def _accumulate(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """A gradient that comes in parts: torch adds them up in the first where nobody else has it, but not where a mode watches."""
    if kwargs or not _is_from_engine():
        return NotImplemented
    first, second = args
    if not isinstance(second, torch.Tensor) or first.size() != second.size() or first.dtype != second.dtype:
        return NotImplemented
    memory = mode.storages.of(first)
    is_sole = first._use_count() == SOLE and (
        torch._C._storage_Use_Count(first.untyped_storage()._cdata) == SOLE_STORAGE
    )
    if memory is None or not is_sole or not is_dense(first):
        return NotImplemented
    memory.known = None
    return first


DYNAMIC = frozenset((torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))

# How many references a tensor has, and its storage, when only the engine of autograd had it before an operator took it; as measured.
SOLE = 4
SOLE_STORAGE = 2 if VERSION >= (2, 10) else 1

SPECIAL: dict[str, Handler] = {
    "aten::add": _accumulate,
    "aten::scatter_add": _in_place,
    "aten::scatter": _in_place,
    "aten::index_add": _in_place,
    "aten::_local_scalar_dense": _item,
    "aten::_to_copy": _to_host,
    "aten::copy_": _copy,
    "aten::index": _index,
    "aten::index_put_": _index,
    "aten::index_put": _index,
    "aten::_index_put_impl_": _index,
    "aten::masked_select": _select,
    "aten::equal": _equal,
    "aten::_pack_padded_sequence": _pack,
    "aten::_pin_memory": _first,
    "aten::record_stream": _nothing,
    # No number is infinite, so that a GradScaler takes each step and its scale stays.
    "aten::_amp_foreach_non_finite_check_and_unscale_": _nothing,
    "aten::_amp_update_scale_": _first,
}
