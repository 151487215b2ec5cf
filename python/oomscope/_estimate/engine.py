"""The pretence as a whole: put in place, and taken away."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch

from .cuda import pretend
from .device import Device
from .dispatch import Dispatch
from .flex_attention import FlexAttention
from .functions import Functions
from .gpus import Gpu
from .kernels import Kernels
from .legacy_types import catch_types
from .patches import Patches
from .shapes import register
from .storages import HOST, Storages
from .values import Values

# What a Python function of torch asks first: whether a class or a mode of the program takes its place.
ASKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


class Engine:
    """A device that is pretended from `start` to the end of the process."""

    def __init__(self, gpu: Gpu, count: int = 1, note: Callable[[str], None] = lambda _: None) -> None:
        self._note = note
        self.storages = Storages()
        self.values = Values(torch, self.storages, note)
        self.kernels = Kernels(self.storages, gpu)
        self.dispatch = Dispatch(self.storages, self.values, self.kernels)
        self.device = Device(self.storages, gpu, count)
        self.functions = Functions(self.dispatch, gpu.capability)
        self.patches = Patches()
        self._flex = FlexAttention()

    def start(self) -> None:
        """From now on there is a device."""
        # It goes through all functions of torch when it is imported, and would find some of them twice.
        with contextlib.suppress(ImportError):
            importlib.import_module("torch._dynamo")
        # Old versions know the sizes of some results only from then on.
        importlib.import_module("torch._meta_registrations")
        self._shapes = register()
        pretend(self.patches, self.device)
        catch_types(self.patches)
        self._ask_classes_only()
        self._pretend_groups()
        self._pretend_parameters()
        self._pretend_storages()
        self.patches.put(torch, "clear_autocast_cache", self.functions.autocast.forget)
        self.patches.put(torch, "compile", self._as_it_is)
        self._flex.take_place(self.patches)
        for name in ("script", "trace", "optimize_for_inference", "freeze"):
            self.patches.put(torch.jit, name, self._not_compiled(getattr(torch.jit, name)))
        self.patches.put(torch.Tensor, "_make_wrapper_subclass", staticmethod(_without_device))
        # Nothing runs, so that no stream is behind; torch reads the stream before it asks a mode.
        self.patches.put(torch.Tensor, "record_stream", lambda *_: None)
        self.patches.put_if_there(torch._C, "_scatter", self._scatter)
        truncated = getattr(torch.nn.init, "_no_grad_trunc_normal_", None)
        if truncated is not None:
            fill = self.dispatch.chance.truncated(truncated, self.functions.is_on_host)
            self.patches.put(torch.nn.init, "_no_grad_trunc_normal_", fill)
        push, again = torch._C._autograd._push_saved_tensors_default_hooks, self.functions.again
        self.patches.put(
            torch._C._autograd,
            "_push_saved_tensors_default_hooks",
            lambda pack, unpack, *more: push(again(pack), again(unpack), *more),
        )
        self.dispatch.__enter__()
        self.functions.__enter__()

    def _ask_classes_only(self) -> None:
        """Has Python functions of torch run as they are, so that what they call is seen; without this, a whole backward pass would be one
        call."""
        for name in ASKS:
            patch = _class_asks if name == "has_torch_function" else _any_class_asks
            for module in list(sys.modules.values()):
                known = getattr(module, "__dict__", {}).get(name)
                if (
                    known is not None
                    and getattr(known, "__module__", None) == "torch._C"
                    or (known is not None and getattr(module, "__name__", "").startswith("torch"))
                ):
                    self.patches.put(module, name, patch)

    def _scatter(self, tensor: Any, devices: Any, sizes: Any, dim: int, streams: Any = None) -> list[Any]:
        """Parts of a tensor, each on a device; what is there already stays."""
        parts = tensor.chunk(len(devices), dim) if sizes is None else tensor.split(sizes, dim)
        places = [torch.device("cuda", device) for device in devices]
        return [self.functions.move(part, place) for part, place in zip(parts, places)]

    def _pretend_groups(self) -> None:
        """Groups of tensors by device name the pretended one."""
        group = getattr(torch._C, "_group_tensors_by_device_and_dtype", None)
        if group is None:
            return

        def grouped(tensors: Any, *more: Any) -> Any:
            found = group(tensors, *more)
            return {(self._named(device, lists), kind): lists for (device, kind), lists in found.items()}

        self.patches.put(torch._C, "_group_tensors_by_device_and_dtype", grouped)

    def _named(self, device: Any, lists: Any) -> Any:
        first = next((one for one in lists[0][0] if one is not None), None)
        return device if first is None else self.functions.device_of(first)

    def _pretend_parameters(self) -> None:
        """A parameter that is made on the CPU has no memory there, so that a model may be larger than this machine."""
        make = torch.nn.Parameter.__new__

        def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
            if (
                type(data) in (torch.Tensor, torch.nn.Parameter)
                and torch.Tensor.device.__get__(data).type == "cpu"
            ):
                with torch._C.DisableTorchFunction():
                    data = self.parameter(data)
            return make(cls, data, requires_grad)

        self.patches.put(torch.nn.Parameter, "__new__", new)

    def _pretend_storages(self) -> None:
        """Storages have a device and an address, too, by which programs tell shared ones."""
        kind = torch.UntypedStorage
        place, address, resize = kind.device, kind.data_ptr, kind.resize_
        storages = self.storages

        def device(storage: Any) -> Any:
            memory = storages.of_storage(storage)
            if memory is None:
                return place.__get__(storage)
            return torch.device("cpu") if memory.device == HOST else torch.device("cuda", memory.device)

        def data_ptr(storage: Any) -> int:
            memory = storages.of_storage(storage)
            return address(storage) if memory is None else memory.address

        def resize_(storage: Any, size: int) -> Any:
            memory = storages.of_storage(storage)
            resize(storage, size)
            if memory is not None:
                storages.resized(storage, memory)
            return storage

        clone = kind.clone

        def cloned(storage: Any) -> Any:
            memory = storages.of_storage(storage)
            if memory is None:
                return clone(storage)
            with torch._C.DisableTorchFunction(), storages.bare():
                made = torch.empty(memory.nbytes, dtype=torch.uint8, device="meta")
                copy = storages.add(made, memory.device)
                copy.known = None if memory.known is None else memory.known.clone()
                return made.untyped_storage()

        self.patches.put(kind, "clone", cloned)
        self.patches.put(kind, "device", property(device))
        self.patches.put(kind, "is_cuda", property(lambda storage: device(storage).type == "cuda"))
        self.patches.put(kind, "data_ptr", data_ptr)
        self.patches.put(kind, "resize_", resize_)

    def _as_it_is(self, model: Any = None, **_: Any) -> Any:
        """A compiled program is estimated as it is without the compiler."""
        self._note("torch.compile: estimated as it runs without the compiler")
        self._flex.is_compiled = True
        return model if model is not None else lambda other: other

    def _not_compiled(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """TorchScript is estimated as the Python that it is made of; what torch compiles of its own stays."""

        def compiled(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_globals.get("__name__", "").startswith("torch."):
                return compile_(*args, **kwargs)
            self._note("torch.jit: estimated as it runs without the compiler")
            named = next((kwargs[name] for name in ("obj", "func", "mod") if name in kwargs), None)
            program = args[0] if args else named
            if isinstance(program, torch.nn.Module) and not hasattr(program, "save"):
                object.__setattr__(program, "save", lambda f, *_, **__: torch.jit.save(program, f))
            return program if program is not None else lambda other: other

        return compiled

    def parameter(self, data: Any) -> Any:
        """A tensor of the CPU without its memory."""
        with self.storages.bare():
            made = torch.empty_strided(data.size(), data.stride(), dtype=data.dtype, device="meta")
        memory = self.storages.of(made) or self.storages.add(made, HOST)
        if data.numel() == 1:
            memory.known = data.detach().clone().untyped_storage()
        return made


def _class_asks(values: Any) -> bool:
    return any(_has_own(value) for value in values)


def _any_class_asks(*values: Any) -> bool:
    return any(_has_own(value) for value in values)


def _has_own(value: Any) -> bool:
    ask = getattr(type(value), "__torch_function__", None)
    return ask is not None and ask not in (
        torch.Tensor.__torch_function__,
        torch._C._disabled_torch_function_impl,
    )


_make_wrapper_subclass = torch.Tensor._make_wrapper_subclass


def _without_device(*args: Any, **kwargs: Any) -> Any:
    """A tensor that is made of others: autograd would ask a device for its stream."""
    if kwargs.get("device") is not None and torch.device(kwargs["device"]).type == "cuda":
        kwargs["device"] = torch.device("meta")
    return _make_wrapper_subclass(*args, **kwargs)
