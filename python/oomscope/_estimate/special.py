"""Operators that are answered in another way than by sizes: what reads values, moves to the CPU, or is done in place on a device."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from .attention import VERSION
from .kernels import is_dense
from .notes import NUMBER
from .stacks import ENGINE, OWN
from .storages import HOST, device_of

if TYPE_CHECKING:
    from .dispatch import Dispatch

META = torch.device("meta")

# `NotImplemented` is the operator itself.
Handler = Callable[["Dispatch", Any, Any, dict[str, Any]], Any]


def _item(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    # How many there are decides on sizes; what a loss is does not.
    ask = mode.values.get if args[0].is_floating_point() else mode.values.decide
    return func(ask(args[0], NUMBER))


def _to_host(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """A copy for the CPU."""
    device = kwargs.get("device")
    if device is None or device.type != "cpu":
        return NotImplemented
    kwargs.pop("pin_memory", None)
    ask = mode.values.get if args[0].numel() == 1 else mode.values.decide
    return func(ask(args[0], "values of the device are copied to the CPU"), **kwargs)


def _copy(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """A copy into a tensor of the CPU."""
    if args[0].device.type != "cpu":
        return NotImplemented
    return func(args[0], mode.values.get(args[1], "values of the device are copied to the CPU"), *args[2:])


def _draw(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Numbers of a parameter of the CPU."""
    memory = mode.storages.of(args[0])
    is_plain = kwargs.get("generator") is None and not any(isinstance(one, torch.Tensor) for one in args[1:])
    if memory is None or memory.device != HOST or not is_plain:
        return NotImplemented
    mode.chance.draw(func, *args, **kwargs)
    memory.known = None
    return args[0]


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
        positions = mode.values.decide(index, "rows that an unknown mask selects").nonzero().unbind(1)
        indexes += [
            mode.on_device(one.contiguous(), device_of([mode.storages.of(args[0])])) for one in positions
        ]
    return mode.run(func, (args[0], indexes, *args[2:]), kwargs)


def _select(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    """Only the mask decides on sizes."""
    tensor, mask = torch.broadcast_tensors(args[0], args[1])
    count = int(mode.values.decide(mask, "what an unknown mask selects").sum())
    result = torch.empty(count, dtype=tensor.dtype, device=META)
    mode.born(result, device_of([mode.storages.of(args[0])]))
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
    mode.born(data, device_of([mode.storages.of(tensor)]))
    return data, sizes


def _equal(mode: Dispatch, func: Any, args: Any, kwargs: Any) -> Any:
    known = [mode.values.known(tensor) for tensor in args]
    return func(*known) if all(one is not None for one in known) else True


def _is_from_engine() -> bool:
    """Whether the engine of autograd asks for an operator itself."""
    if torch._C._current_graph_task_id() == -1 or torch.is_grad_enabled():
        return False
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
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
    "aten::uniform_": _draw,
    "aten::normal_": _draw,
    "aten::bernoulli_": _draw,
    "aten::exponential_": _draw,
    "aten::random_": _draw,
    "aten::_pack_padded_sequence": _pack,
    "aten::_pin_memory": _first,
    "aten::record_stream": _nothing,
    # No number is infinite, so that a GradScaler takes each step and its scale stays.
    "aten::_amp_foreach_non_finite_check_and_unscale_": _nothing,
    "aten::_amp_update_scale_": _first,
}
