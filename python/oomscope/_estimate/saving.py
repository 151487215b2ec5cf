"""Checkpoints: tensors without memory are written to the overlay and read from it; trackers are told to stay at home."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .._after_import import after_import
from .functions import CPU, Functions
from .overlay import Overlay
from .patches import Patches

# Trackers that send what they are told to somewhere else.
AT_HOME = {
    "WANDB_MODE": "disabled",
    "COMET_MODE": "DISABLED",
    "NEPTUNE_MODE": "debug",
    "DVCLIVE_TEST": "true",
    "CLEARML_OFFLINE_MODE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "SWANLAB_MODE": "disabled",
}


def catch_saving(patches: Patches, overlay: Overlay, functions: Functions) -> None:
    """Catches what writes tensors without Python's `open`."""
    os.environ.update(AT_HOME)
    save, load, connect = torch.save, torch.load, sqlite3.connect

    def save_apart(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        # As tensors without values, which take no room.
        with torch._C.DisableTorchFunction(), _opened(f, "wb") as file:
            save(obj, file, *args, **kwargs)

    def load_apart(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("mmap", None)
        # torch 2.4 warns whoever calls it of what it does by default; this is not that caller.
        with warnings.catch_warnings(), torch._C.DisableTorchFunction(), _opened(f, "rb") as file:
            warnings.simplefilter("ignore", FutureWarning)
            found = load(file, "cpu", *args, **kwargs)
        return torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda one: _placed(functions, one, map_location), found
        )

    patches.put(torch, "save", save_apart)
    patches.put(torch, "load", load_apart)
    patches.put(torch.jit, "save", lambda m, f, *_, **__: _note_file(overlay, f))
    patches.put(
        sqlite3, "connect", lambda path, *args, **kwargs: connect(_database(overlay, path), *args, **kwargs)
    )
    after_import("safetensors.torch", lambda: _catch_safetensors(patches, overlay, functions))
    after_import("huggingface_hub", lambda: _catch_uploads(patches, overlay))


def _note_file(overlay: Overlay, file: Any) -> None:
    """A compiled program, which C++ would write."""
    if isinstance(file, (str, os.PathLike)):
        overlay.target(file, keeps=False)


def _database(overlay: Overlay, path: Any) -> Any:
    """A database of a tracker, which C writes."""
    is_file = isinstance(path, (str, os.PathLike)) and not str(path).startswith((":memory:", "file:"))
    return overlay.target(path, keeps=True) if is_file else path


def _opened(file: Any, mode: str) -> Any:
    if isinstance(file, (str, os.PathLike)):
        return open(file, mode)
    # One of the program's, which it closes itself.
    return contextlib.nullcontext(file)


def _placed(functions: Functions, tensor: Any, map_location: Any) -> Any:
    """A tensor that was read, where it is wanted; what had no values when it was written has none."""
    wanted = CPU
    if isinstance(map_location, (str, int, torch.device)):
        wanted = functions.resolve(map_location)
    elif isinstance(map_location, dict):
        places = [value for value in map_location.values() if isinstance(value, (str, torch.device))]
        wanted = functions.resolve(places[0]) if places else CPU
    if torch.Tensor.device.__get__(tensor).type == "meta" and functions.device_of(tensor).type == "meta":
        made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        tensor = (
            torch.nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else made
        )
        if map_location is None:
            wanted = functions.resolve("cuda")
    return tensor if functions.device_of(tensor) == wanted else functions.move(tensor, wanted)


def _catch_safetensors(patches: Patches, overlay: Overlay, functions: Functions) -> None:
    import sys

    module = sys.modules["safetensors.torch"]
    load = module.load_file

    def save_file(tensors: dict[str, Any], filename: Any, metadata: Any = None) -> None:
        del metadata
        torch.save(dict(tensors), filename)

    def load_file(filename: Any, device: Any = "cpu", **_: Any) -> Any:
        found = overlay.found(filename)
        if found != filename:
            return torch.load(filename, device, weights_only=True)
        return {name: _placed(functions, one, device) for name, one in load(filename).items()}

    def save_model(model: Any, filename: Any, *_: Any, **__: Any) -> None:
        save_file(model.state_dict(), filename)

    patches.put(module, "save_file", save_file)
    patches.put(module, "load_file", load_file)
    patches.put_if_there(module, "save_model", save_model)


def _catch_uploads(patches: Patches, overlay: Overlay) -> None:
    import huggingface_hub

    def uploading(name: str) -> Callable[..., None]:
        def call(*_: Any, **__: Any) -> None:
            overlay.written.setdefault(f"the hub ({name})")

        return call

    for name in [
        "upload_file",
        "upload_folder",
        "upload_large_folder",
        "create_commit",
        "create_repo",
        "delete_repo",
        "delete_file",
        "create_branch",
    ]:
        patches.put_if_there(huggingface_hub.HfApi, name, uploading(name))
        patches.put_if_there(huggingface_hub, name, uploading(name))
