"""What Python asks tensors and torch for, above autograd: devices, and copies between them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device as default_device

from .autocast import Autocast
from .device_functions import DeviceFunctions
from .dispatch import Dispatch
from .legacy_types import DTYPES, name_of_type
from .storages import HOST

CPU = torch.device("cpu")

PLAIN = (torch.Tensor, torch.nn.Parameter)

Handler = Callable[..., Any]


class Functions(TorchFunctionMode):
    """Answers as if tensors without memory were on a device."""

    def __init__(self, dispatch: Dispatch, capability: tuple[int, int]) -> None:
        super().__init__()
        self._dispatch = dispatch
        self._storages = dispatch.storages
        self._capability = capability
        self.autocast = Autocast()
        self._inside = threading.local()
        self._constructors = default_device._device_constructors()
        self._handlers = self._table()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._inside.depth = getattr(self._inside, "depth", 0) + 1
        try:
            return self._answer(func, args, {} if kwargs is None else kwargs)
        finally:
            self._inside.depth -= 1

    def again(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A function that torch calls back in the middle of an operator, where a mode is off, with this one on."""

        def under(*args: Any) -> Any:
            depth = getattr(self._inside, "depth", 0)
            if not depth:
                return call(*args)
            self._inside.depth = 0
            try:
                with self:
                    return call(*args)
            finally:
                self._inside.depth = depth

        return under

    def _answer(self, func: Any, args: Any, kwargs: Any) -> Any:
        handler = self._handlers.get(func)
        if handler is not None:
            if not args and "input" in kwargs:
                # As torch names the first argument of its functions.
                args, kwargs = (kwargs["input"],), {name: kwargs[name] for name in kwargs if name != "input"}
            result = handler(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if (
            func in self._constructors
            and kwargs.get("device") is None
            and default_device.CURRENT_DEVICE is not None
        ):
            kwargs = {**kwargs, "device": default_device.CURRENT_DEVICE}
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": self.resolve(kwargs["device"])}
            if kwargs["device"].type == "meta":
                with self._storages.bare():
                    return func(*args, **kwargs)
        if self.autocast.is_on():
            args, kwargs = self.autocast.cast(func.__name__, args, kwargs, self.is_cuda)
        return func(*args, **kwargs)

    def resolve(self, device: Any) -> Any:
        """A device by its type and number."""
        if isinstance(device, int):
            device = torch.device("cuda", device)
        elif isinstance(device, str):
            device = torch.device(device)
        if device.type == "cuda" and device.index is None:
            return torch.device("cuda", torch.cuda.current_device())
        return device

    def device_of(self, tensor: Any) -> Any:
        """The device of a tensor, as the program knows it."""
        if type(tensor) not in PLAIN:
            # A tensor that is spread over devices has a part on this one.
            tensor = getattr(tensor, "_local_tensor", tensor)
        device = torch.Tensor.device.__get__(tensor)
        if device.type == "meta":
            memory = self._storages.of(_without_transforms(tensor))
            if memory is not None:
                return CPU if memory.device == HOST else torch.device("cuda", memory.device)
        return device

    def is_cuda(self, tensor: Any) -> bool:
        return bool(self.device_of(tensor).type == "cuda")

    def is_on_host(self, tensor: Any) -> bool:
        return bool(self.device_of(tensor).type == "cpu")

    def _table(self) -> dict[Any, Handler]:
        tensor = torch.Tensor
        get = "__get__"
        return {
            getattr(tensor.device, get): lambda one: self.device_of(one),
            getattr(tensor.is_cuda, get): lambda one: self.is_cuda(one),
            getattr(tensor.is_cpu, get): lambda one: self.device_of(one).type == "cpu",
            getattr(tensor.is_meta, get): lambda one: self.device_of(one).type == "meta",
            tensor.get_device: lambda one: (
                -1 if self.device_of(one).index is None else self.device_of(one).index
            ),
            tensor.to: self._to,
            tensor.cuda: lambda one, device=None, *_, **__: self.move(
                one, self.resolve(torch.cuda.current_device() if device is None else device)
            ),
            tensor.cpu: lambda one, **__: self.move(one, CPU),
            tensor.type_as: lambda one, other: self.move(one, self.device_of(other), other.dtype),
            tensor.type: self._type,
            tensor.numpy: self._numpy,
            tensor.data.__set__: self._set_data,
            tensor.pin_memory: lambda one, *_, **__: one,
            tensor.is_pinned: lambda one, *_, **__: False,
            tensor.data_ptr: self._data_ptr,
            tensor.new_tensor: lambda one, data, **more: self._tensor(
                data, **{"dtype": one.dtype, "device": self.device_of(one), **more}
            ),
            torch._has_compatible_shallow_copy_type: self._are_alike,
            torch.tensor: self._tensor,
            torch.as_tensor: self._as_tensor,
            torch.asarray: self._as_tensor,
            **DeviceFunctions(self.is_cuda, self.autocast, self._capability).table(),
        }

    def move(self, tensor: Any, device: Any, dtype: Any = None, copy: bool = False, **more: Any) -> Any:
        """A tensor on another device, or itself."""
        now = self.device_of(tensor)
        if now != device:
            context = self._storages.bare() if device.type == "meta" else contextlib.nullcontext()
            with context:
                return tensor.to(device, dtype or tensor.dtype, copy=True, **more)
        if copy or more.get("memory_format") is not None or dtype not in (None, tensor.dtype):
            return tensor.to(dtype=dtype or tensor.dtype, copy=copy, **more)
        return tensor

    def _to(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        copy = kwargs.pop("copy", False)
        other = args[0] if args else kwargs.pop("other", None)
        if isinstance(other, torch.Tensor):
            return self.move(tensor, self.device_of(other), other.dtype, copy)
        if len(args) > (3 if isinstance(other, (str, int, torch.device)) or other is None else 2):
            args, copy = args[:-1], args[-1]
        if args and isinstance(args[0], int):
            args = (torch.device("cuda", args[0]), *args[1:])
        device, dtype, _, memory_format = torch._C._nn._parse_to(*args, **kwargs)
        more = {} if memory_format is None else {"memory_format": memory_format}
        device = self.device_of(tensor) if device is None else self.resolve(device)
        return self.move(tensor, device, dtype, bool(copy), **more)

    def _type(self, tensor: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
        if dtype is None:
            kind = tensor.type()
            return kind.replace(".meta.", ".cuda." if self.is_cuda(tensor) else ".", 1)
        name = name_of_type(dtype)
        if name is None:
            return NotImplemented
        kind = DTYPES[name.rsplit(".", 1)[1]]
        return self.move(tensor, self.resolve("cuda") if ".cuda." in name else CPU, kind)

    def _numpy(self, tensor: Any, **more: Any) -> Any:
        device = self.device_of(tensor)
        if device.type == "cuda":
            raise TypeError(
                f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
            )
        if self._storages.of(tensor) is None:
            return NotImplemented
        return self._dispatch.values.get(tensor, "values of a parameter are asked for").numpy(**more)

    def _set_data(self, tensor: Any, value: Any) -> Any:
        if (
            torch.Tensor.device.__get__(tensor).type == "meta"
            and torch.Tensor.device.__get__(value).type == "cpu"
        ):
            torch.Tensor.data.__set__(tensor, self._dispatch.values.twin(value))
            return None
        return NotImplemented

    def _are_alike(self, one: Any, other: Any) -> Any:
        """Whether a tensor can take the place of another one's data: those of a device and of the CPU can."""
        raw = torch.Tensor.device.__get__
        return True if raw(one).type == "meta" and raw(other).type == "cpu" else NotImplemented

    def _data_ptr(self, tensor: Any) -> Any:
        memory = self._storages.of(tensor) if torch.Tensor.device.__get__(tensor).type == "meta" else None
        if memory is None:
            return NotImplemented
        return memory.address + tensor.storage_offset() * tensor.element_size()

    def _tensor(
        self,
        data: Any,
        *,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **more: Any,
    ) -> Any:
        device = default_device.CURRENT_DEVICE if device is None else device
        device = CPU if device is None else self.resolve(device)
        if isinstance(data, torch.Tensor):
            made = self.move(data.detach(), device, more.get("dtype"), copy=True)
        else:
            made = torch.tensor(data, device=CPU, **more)
            made = made if device == CPU else self.move(made, device)
        return made.requires_grad_() if requires_grad else made

    def _as_tensor(
        self, data: Any, dtype: Any = None, device: Any = None, copy: Any = None, **more: Any
    ) -> Any:
        if isinstance(data, torch.Tensor):
            wanted = self.device_of(data) if device is None else self.resolve(device)
            return self.move(data, wanted, dtype, copy=bool(copy))
        device = default_device.CURRENT_DEVICE if device is None else device
        made = torch.as_tensor(data, dtype=dtype, device=CPU)
        return made if device is None else self.move(made, self.resolve(device))


def _without_transforms(tensor: Any) -> Any:
    """The tensor that `vmap` and other transforms of functions wrap, of which torch shows no storage."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor
