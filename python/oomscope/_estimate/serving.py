"""Engines that serve models fill the memory that they are told to, and keep an allocator of their own within it."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from .._after_import import after_import
from .patches import Patches

# Packages with what a program makes of them; "" is the package itself.
ENGINES = {
    "vllm": ("LLM", "LLMEngine", "AsyncLLMEngine"),
    "sglang": ("Engine", "Runtime"),
    "tensorrt_llm": ("LLM",),
    "lmdeploy": ("pipeline", "serve"),
}


class ServingEngine(NotImplementedError):
    """A program makes an engine that is not estimated."""


def refuse_engines(patches: Patches) -> None:
    """Has engines say that they are not estimated, as soon as a program makes one."""
    for name in ENGINES:
        after_import(name, lambda name=name: _refuse(patches, name))  # type: ignore[misc]


def _refuse(patches: Patches, name: str) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise ServingEngine(
            f"{name} is not estimated: it reserves the share of the device that it is told to (as gpu_memory_utilization), and "
            "divides it by itself. Estimate the model's own forward pass, or read the engine's log"
        )

    for entry in ENGINES[name]:
        patches.put(sys.modules[name], entry, refuse)
