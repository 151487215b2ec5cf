"""Which module runs, in the metadata of allocations: forward in the thread that calls it, backward in autograd's own.

A module is known by its path within the outermost module whose call this is. Nothing of the program is kept: hooks on its graph have a text.
"""

from __future__ import annotations

import contextlib
import json
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._marks import Marks
from ._messages import harmless
from ._names import tensors_of, walk

# What a node of a graph that has our hook says.
HOOKED = "oomscope"

# Outermost modules whose paths are remembered: models and losses.
MAX_OUTERMOST = 64

# Outermost modules whose parameters are noted.
MAX_NOTED = 1024


class Modules:
    """Hooks on all modules, for as long as a recording lasts."""

    def __init__(self, torch: Any, marks: Marks) -> None:
        self._torch = torch
        self._marks = marks
        self._ours = threading.local()
        self._known: list[_Paths] = []
        self._handles: list[Any] = []
        # Whose parameters were noted, by their ids: a program's modules may compare as they like.
        self._noted: dict[int, weakref.ref[Any]] = {}
        self._noted_types = (torch.Tensor, torch.nn.Parameter)
        compiler = getattr(torch, "compiler", None)
        self._is_compiling = getattr(compiler, "is_compiling", lambda: False)

    def start(self) -> None:
        """Listens to all modules, where allocations have metadata."""
        if self._marks.has_metadata:
            hooks = self._torch.nn.modules.module
            self._handles = [
                hooks.register_module_forward_pre_hook(self._before),
                hooks.register_module_forward_hook(self._after, always_call=True),
            ]

    def stop(self) -> None:
        """Listens no more."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()
        if handles:
            self._marks.enter_module(None)

    def enter_backward(self, path: str | None) -> None:
        """Says which module's backward runs in this thread; graphs may outlive the recording."""
        if not self._handles:
            return
        with harmless("naming modules"):
            if self._marks.module is None:
                # What the next backward pass begins with is within no module.
                self._torch.autograd.Variable._execution_engine.queue_callback(self._end_backward)
            self._marks.enter_module(path)

    def _end_backward(self) -> None:
        with harmless("naming modules"):
            self._marks.enter_module(None)

    def _before(self, module: Any, inputs: Any) -> None:
        if self._is_compiling():
            return
        with harmless("naming modules"):
            stack = self._stack()
            around = stack[-1] if stack else None
            if around is not None:
                # What a module is given was made by the one around it, unless that is known better.
                self._hook(inputs, around.path)
            paths = self._paths_for(module) if around is None else around.paths
            path = paths.of(module, None if around is None else around.path)
            stack.append(_Call(module, path, paths, self._marks.module))
            self._marks.enter_module(path)

    def _after(self, module: Any, inputs: Any, output: Any) -> None:
        if self._is_compiling():
            return
        with harmless("naming modules"):
            stack = self._stack()
            if not any(call.module is module for call in stack):
                return
            while True:
                call = stack.pop()
                self._marks.enter_module(call.before)
                if call.module is module:
                    break
            self._hook(output, call.path)

    def _hook(self, values: Any, path: str | None) -> None:
        """Says in a backward pass that what made these values was within a module."""
        for value in _tensors(values, self._torch.Tensor):
            node = value.grad_fn if self._is_plain(type(value)) else None
            if node is not None and HOOKED not in node.metadata:
                node.metadata[HOOKED] = True
                node.register_prehook(_Backward(self, path))

    def _is_plain(self, kind: type) -> bool:
        """Whether tensors of a class answer without code of the program's."""
        plain = (self._torch.Tensor.__torch_function__, self._torch._C._disabled_torch_function_impl)
        return getattr(kind, "__torch_function__", None) in plain

    def _paths_for(self, module: Any) -> _Paths:
        """The paths within the module that calls began with, when this one was within it: a part is run again in a backward pass, where it
        was checkpointed."""
        for paths in self._known:
            if paths.has(module):
                return paths
        paths = _Paths(module)
        self._known = [paths, *(known for known in self._known if not known.is_within(paths))]
        del self._known[MAX_OUTERMOST:]
        with harmless("noting parameters"):
            self._note(module)
        return paths

    def _note(self, outermost: Any) -> None:
        """Notes which module has each parameter and buffer, once: they were made before any module ran, and may be gone when a snapshot
        is written."""
        torch = self._torch
        annotate = getattr(torch.cuda.memory, "_annotate_tensor", None)
        is_known = id(outermost) in self._noted and self._noted[id(outermost)]() is outermost
        # Under a mode, what is asked of a tensor is asked of the program.
        if (
            annotate is None
            or is_known
            or len(self._noted) == MAX_NOTED
            or torch._C._len_torch_dispatch_stack()
        ):
            return
        self._noted[id(outermost)] = weakref.ref(outermost)
        for path, module in walk(outermost):
            said = {"module": self._marks.said(path)} if path else {}
            for tensor, is_parameter in tensors_of(module):
                # Some are in no memory of the allocator's, or do not tell.
                with contextlib.suppress(Exception):
                    # To ask a copy that is made when it is written for its address is to make it.
                    is_plain = type(tensor) in self._noted_types and tensor.is_cuda
                    if is_plain and not torch._C._is_cow_tensor(tensor):
                        facts = {**said, **({"category": "parameter"} if is_parameter else {})}
                        annotate(tensor, json.dumps(facts, separators=(",", ":")))

    def _stack(self) -> list[_Call]:
        """The modules that run in this thread."""
        if not hasattr(self._ours, "stack"):
            self._ours.stack = []
        stack: list[_Call] = self._ours.stack
        return stack


class _Paths:
    """The paths of all modules within one. Modules may come later, and some are made for each call."""

    def __init__(self, outermost: Any) -> None:
        self._outermost = weakref.ref(outermost)
        self._misses = 0
        self._paths = self._walk()

    def of(self, module: Any, around: str | None) -> str | None:
        """The path of a module, `None` for the outermost itself; one that is not there is a part of what calls it."""
        path = self._paths.get(id(module))
        if path is None:
            self._misses += 1
            # The first, second, fourth, eighth time, as it takes long.
            if self._misses & (self._misses - 1) == 0:
                self._paths = self._walk()
            path = self._paths.get(id(module), around or "")
        return path or None

    def has(self, module: Any) -> bool:
        """Whether a module is this one or within it."""
        return id(module) in self._paths and self._outermost() is not None

    def is_within(self, other: _Paths) -> bool:
        """Whether the outermost module is within another one, or is gone."""
        outermost = self._outermost()
        return outermost is None or other.has(outermost)

    def _walk(self) -> dict[int, str]:
        outermost = self._outermost()
        return {} if outermost is None else {id(inner): path for path, inner in walk(outermost)}


@dataclass(frozen=True)
class _Call:
    """A module that runs, and which one did before."""

    module: Any
    path: str | None
    paths: _Paths
    before: str | None


class _Backward:
    """Says which module's backward runs, in the thread that runs it."""

    __slots__ = ("_modules", "_path")

    def __init__(self, modules: Modules, path: str | None) -> None:
        self._modules = modules
        self._path = path

    def __call__(self, gradients: Any) -> None:
        self._modules.enter_backward(self._path)


def _tensors(values: Any, kind: type, depth: int = 2) -> Iterator[Any]:
    """The tensors of what a module takes or returns."""
    if isinstance(values, kind):
        yield values
    elif depth and isinstance(values, (tuple, list)):
        for value in values:
            yield from _tensors(value, kind, depth - 1)
    elif depth and isinstance(values, dict):
        for value in list(dict.values(values)):
            yield from _tensors(value, kind, depth - 1)
