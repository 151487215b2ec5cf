"""What operators take beside their results, by rules: `kernel_rules` has them, one row an operator."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from .gpus import Gpu
from .storages import HOST, Memory, Storages

MIB = 1 << 20


class Call:
    """An operator that runs on a device: its results are there, but have no memory yet."""

    __slots__ = ("args", "device", "func", "kernels", "kwargs", "results", "unborn")

    def __init__(
        self, kernels: Kernels, func: Any, args: Any, kwargs: Any, results: Any, device: int
    ) -> None:
        self.kernels = kernels
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.results = results
        self.device = device
        self.unborn: list[Any] = flat(results)

    def arg(self, at: int, name: str, default: Any = None) -> Any:
        """An argument by its position or its name."""
        if at < len(self.args):
            return self.args[at]
        return self.kwargs.get(name, default)

    def born(self, tensor: Any = None) -> None:
        """A result gets its memory now; without one, all that have none."""
        if tensor is None:
            for one in self.unborn:
                self.kernels.born(one, self.device)
            self.unborn = []
        else:
            self.unborn = [one for one in self.unborn if one is not tensor]
            self.kernels.born(tensor, self.device)

    def born_as(self, tensor: Any, nbytes: int) -> None:
        """A result gets memory of another size than a tensor without memory says."""
        self.unborn = [one for one in self.unborn if one is not tensor]
        self.kernels.born(tensor, self.device, nbytes)

    def on_host(self, *tensors: Any) -> None:
        """Results that a device has as tensors of the CPU."""
        for tensor in tensors:
            self.unborn = [one for one in self.unborn if one is not tensor]
            if self.kernels.storages.of(tensor) is None:
                self.kernels.storages.add(tensor, HOST)

    def take(self, nbytes: int) -> Memory:
        """Memory beside the results."""
        return self.kernels.storages.pass_by(self.device, int(nbytes))

    def guess(self, nbytes: int) -> None:
        """Memory beside the results, given back at once, which may as well be none or twice as much."""
        self.give(self.kernels.storages.pass_by(self.device, int(nbytes), is_guess=True))

    def give(self, *memories: Memory | None) -> None:
        """Takes memory back, in this order."""
        for memory in memories:
            if memory is not None:
                self.kernels.storages.give_back(memory)

    def pass_by(self, *sizes: int) -> None:
        """Memory that is asked for in this order, and given back in the other."""
        self.give(*reversed([self.take(nbytes) for nbytes in sizes if nbytes]))

    def each(self, sizes: Iterable[int]) -> None:
        """Memory that is asked for and given back, one after the other."""
        for nbytes in sizes:
            self.pass_by(nbytes)


Rule = Callable[[Call], None]


@dataclass(frozen=True)
class Row:
    """What is known of an operator, from where, and which case of the tests shows it."""

    rule: Rule
    source: str
    case: str


ROWS: dict[str, Row] = {}


def rule(*names: str, source: str, case: str) -> Callable[[Rule], Rule]:
    """Enters a rule for operators."""

    def enter(made: Rule) -> Rule:
        for name in names:
            ROWS["aten::" + name] = Row(made, source, case)
        return made

    return enter


# Operators that a device computes with others, by their names.
WRITTEN: dict[str, Callable[..., Any]] = {}


def written(*names: str, source: str, case: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enters what a device runs in place of operators; `NotImplemented` is the operator itself."""
    del source, case

    def enter(made: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            WRITTEN["aten::" + name] = made
        return made

    return enter


class Kernels:
    """The workspaces and temporaries of operators."""

    def __init__(self, storages: Storages, gpu: Gpu) -> None:
        self.storages = storages
        self.gpu = gpu
        self.version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
        self._kept: dict[Any, Memory] = {}
        # Stand-ins of cuBLAS have one handle for all threads.
        self.is_one_handle = False

    def run(self, func: Any, args: Any, kwargs: Any, results: Any, device: int) -> None:
        """The results of an operator get their memory, and it takes what it needs meanwhile."""
        row = None if device == HOST else ROWS.get(func._schema.name)
        if row is None:
            for one in flat(results):
                self.born(one, device)
            return
        call = Call(self, func, args, kwargs, results, device)
        row.rule(call)
        call.born()

    def born(self, result: Any, device: int, nbytes: int | None = None) -> Memory:
        """The memory of a result, which may be new, or have another size than before."""
        memory = self.storages.of(result)
        if memory is None:
            return self.storages.add(result, device, nbytes)
        if nbytes is None and memory.nbytes != result.untyped_storage().nbytes() and not memory.is_other:
            self.storages.resized(result.untyped_storage(), memory)
        return memory

    def keep(self, device: int, kind: str, nbytes: int) -> None:
        """A workspace that stays for the process, one for each stream of each handle: a thread has its own."""
        in_backward = not self.is_one_handle and torch._C._current_graph_task_id() != -1
        key = (device, kind, self.storages.stream, in_backward)
        if key not in self._kept:
            self._kept[key] = self.storages.pass_by(device, nbytes)


def flat(values: Any) -> list[Any]:
    """The tensors of arguments or results."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, (list, tuple)):
        return [tensor for value in values for tensor in flat(value)]
    return []


def is_dense(tensor: Any) -> bool:
    """Whether the elements of a tensor lie side by side, in any order."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.size())):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def bytes_of(tensor: Any) -> int:
    """What a tensor would take on its own."""
    return int(tensor.numel() * tensor.element_size())


def is_set(name: str) -> bool:
    """Whether a switch of the environment is on, as torch reads it."""
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "on", "y")


# The rows enter themselves.
from . import kernel_rules as _kernel_rules  # noqa: F401
