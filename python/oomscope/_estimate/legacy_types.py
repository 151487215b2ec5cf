"""The types that old programs make and ask tensors by: `torch.cuda.FloatTensor` and its like."""

from __future__ import annotations

from typing import Any

import torch

from .patches import Patches

DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}


class _Type(type):
    """Makes tensors of a device, and knows them."""

    dtype: Any

    def __instancecheck__(cls, one: Any) -> bool:
        return isinstance(one, torch.Tensor) and one.is_cuda and one.dtype == cls.dtype

    def __call__(cls, *args: Any, **_: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], cls):
            return args[0]
        sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
        if all(isinstance(size, int) for size in sizes):
            return torch.empty(tuple(sizes) or (0,), dtype=cls.dtype, device="cuda")
        return getattr(torch, cls.__name__)(*args).to("cuda")


def catch_types(patches: Patches) -> None:
    """Has the types of `torch.cuda` stand for a pretended device."""
    for name, dtype in DTYPES.items():
        kind = _Type(name, (), {"dtype": dtype, "is_cuda": True, "__module__": "torch.cuda"})
        patches.put_if_there(torch.cuda, name, kind)
    patches.put_if_there(torch, "set_default_tensor_type", _set_default)


def name_of_type(kind: Any) -> str | None:
    """The name of a type of tensors, by itself or as text; a dtype is none."""
    if isinstance(kind, str):
        return kind
    return None if isinstance(kind, torch.dtype) else f"{kind.__module__}.{kind.__name__}"


def _set_default(kind: Any) -> None:
    name = str(name_of_type(kind))
    torch.set_default_dtype(DTYPES[name.rsplit(".", 1)[-1]])
    torch.set_default_device("cuda" if ".cuda." in name else None)
