"""Kernels of Triton: a program makes their results before it launches them, so that a launch takes no memory of its own."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import torch

from .._after_import import after_import
from .gpus import Gpu
from .notes import Notes
from .patches import Patches
from .storages import Storages

LAUNCHED = "a Triton kernel is launched: what it computes is not known"

WARP = 32


def launch_nothing(patches: Patches, storages: Storages, gpu: Gpu, notes: Notes) -> None:
    """Has launches leave their results unknown, and the driver that packages ask about the device answer for the pretended one."""
    after_import("triton.runtime.jit", lambda: _launches(patches, storages, notes))
    after_import("triton.runtime.driver", lambda: _driver(gpu))


def _launches(patches: Patches, storages: Storages, notes: Notes) -> None:
    interface = sys.modules["triton.runtime.jit"].KernelInterface

    def launch(*args: Any, **kwargs: Any) -> None:
        notes.add(LAUNCHED)
        for value in (*args, *kwargs.values()):
            memory = storages.of(value) if isinstance(value, torch.Tensor) else None
            if memory is not None:
                memory.known = None

    patches.put(interface, "__getitem__", lambda kernel, grid: launch)


def _driver(gpu: Gpu) -> None:
    config = sys.modules["triton.runtime.driver"].driver
    # Old versions look for a device at once.
    if hasattr(config, "set_active"):
        config.set_active(_Driver(gpu))


class _Driver:
    """What packages ask a driver of Triton."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.utils = SimpleNamespace(get_device_properties=self._properties)

    def get_current_target(self) -> Any:
        major, minor = self._gpu.capability
        return importlib.import_module("triton.backends.compiler").GPUTarget("cuda", 10 * major + minor, WARP)

    def get_current_device(self) -> int:
        return int(torch.cuda.current_device())

    def get_current_stream(self, device: Any = None) -> int:
        del device
        return 0

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_active_torch_device(self) -> Any:
        return torch.device("cuda", self.get_current_device())

    def _properties(self, device: Any = None) -> dict[str, int]:
        found = torch.cuda.get_device_properties(device)
        return {
            "max_shared_mem": found.shared_memory_per_block_optin,
            "max_num_regs": found.regs_per_multiprocessor,
            "multiprocessor_count": found.multi_processor_count,
            "warpSize": WARP,
        }
