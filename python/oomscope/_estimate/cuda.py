"""Has `torch.cuda` and `torch.accelerator` answer as if there were a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .device import Device
from .patches import Patches
from .streams import Event, Generator, Graph, Pool, Stream, as_ever, on_stream


def pretend(patches: Patches, device: Device) -> None:
    """Has `torch.cuda` answer as if there were a device."""
    patches.put(Stream, "enter", staticmethod(device.enter))
    gpu = device.gpu
    nothing = _nothing
    answers: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": nothing,
        "_lazy_init": nothing,
        "_lazy_call": lambda call, **_: call(),
        "device_count": lambda: device.count,
        "current_device": lambda: device.current,
        "set_device": device.set_current,
        "_exchange_device": device.exchange,
        "_maybe_exchange_device": device.exchange,
        "get_device_name": lambda *_: gpu.name,
        "get_device_capability": lambda *_: gpu.capability,
        "get_device_properties": device.properties,
        "is_bf16_supported": lambda *_, **__: (8, 0) <= gpu.capability,
        "can_device_access_peer": lambda *_: True,
        "get_arch_list": lambda: [f"sm_{gpu.capability[0]}{gpu.capability[1]}"],
        "synchronize": nothing,
        "ipc_collect": nothing,
        "empty_cache": device.empty_cache,
        "current_stream": lambda *_: device.stream,
        "default_stream": lambda *_: Stream(stream_id=0),
        "set_stream": lambda stream: nothing(device.enter(stream)),
        "stream": on_stream,
        "device_memory_used": device.allocated,
        "utilization": lambda *_: 100,
        "temperature": lambda *_: 50,
        "power_draw": lambda *_: 300_000,
        "clock_rate": lambda *_: 1_500,
        "memory_usage": lambda *_: 50,
        "mem_get_info": device.free_and_total,
        "memory_allocated": device.allocated,
        "max_memory_allocated": device.peak,
        "memory_reserved": device.allocated,
        "max_memory_reserved": device.peak,
        "memory_cached": device.allocated,
        "max_memory_cached": device.peak,
        "memory_stats": device.stats,
        "memory_stats_as_nested_dict": lambda *_: {},
        "memory_summary": lambda *_, **__: "",
        "reset_peak_memory_stats": device.reset_peak,
        "reset_max_memory_allocated": device.reset_peak,
        "reset_max_memory_cached": device.reset_peak,
        "reset_accumulated_memory_stats": nothing,
        "set_per_process_memory_fraction": nothing,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state": nothing,
        "set_rng_state_all": nothing,
        "manual_seed": nothing,
        "manual_seed_all": nothing,
        "seed": nothing,
        "seed_all": nothing,
        "initial_seed": lambda: 0,
        "_is_in_bad_fork": lambda: False,
        "is_current_stream_capturing": lambda: False,
    }
    modules = [torch.cuda, torch.cuda.memory, torch.cuda.random]
    for name, answer in answers.items():
        for module in modules:
            patches.put_if_there(module, name, answer)
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is not None:
        _pretend_accelerator(patches, accelerator, answers)
    for name, kind in (("Stream", Stream), ("Event", Event)):
        patches.put(torch.cuda, name, kind)
        patches.put_if_there(torch.cuda.streams, name, kind)
    patches.put(torch, "Generator", Generator)
    patches.put_if_there(torch.cuda, "CUDAGraph", Graph)
    patches.put_if_there(torch.cuda, "MemPool", Pool)
    cudnn = torch.backends.cudnn
    # Without a device it would be asked for its version, and refuse.
    for name, answer in (
        ("version", lambda: 90_100),
        ("is_available", lambda: True),
        ("_init", lambda: True),
    ):
        patches.put_if_there(cudnn, name, answer)
    patches.put_if_there(cudnn, "is_acceptable", lambda _: False)
    for name in ("graph", "use_mem_pool"):
        patches.put_if_there(torch.cuda, name, as_ever)
    patches.put_if_there(torch.cuda, "make_graphed_callables", lambda callables, *_, **__: callables)
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        patches.put_if_there(torch.cuda.nvtx, name, nothing)
    for name in ("start", "stop", "init"):
        patches.put_if_there(torch.cuda.profiler, name, nothing)
    _pretend_history(patches, device)
    for name, answer in (
        ("_cuda_getDeviceCount", lambda: device.count),
        ("_cuda_isInBadFork", lambda: False),
        ("_get_accelerator", lambda *_: torch.device("cuda")),
        ("_cuda_clearCublasWorkspaces", nothing),
        ("_cuda_emptyCache", device.empty_cache),
        ("_cuda_getCurrentRawStream", lambda *_: 0),
        ("_cuda_isCurrentStreamCapturing", lambda: False),
        ("_cuda_setDevice", nothing),
        ("_cuda_exchangeDevice", device.exchange),
        ("_cuda_maybeExchangeDevice", device.exchange),
    ):
        patches.put_if_there(torch._C, name, answer)


def _pretend_accelerator(patches: Patches, accelerator: Any, answers: dict[str, Callable[..., Any]]) -> None:
    """The same answers by the names of `torch.accelerator`."""
    others = {
        "is_available": lambda: True,
        "current_accelerator": lambda *_, **__: torch.device("cuda"),
        "current_device_index": answers["current_device"],
        "current_device_idx": answers["current_device"],
        "set_device_index": answers["set_device"],
        "set_device_idx": answers["set_device"],
        "get_memory_info": answers["mem_get_info"],
    }
    names = [
        "device_count",
        "current_stream",
        "set_stream",
        "synchronize",
        "empty_cache",
        "memory_stats",
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "reset_peak_memory_stats",
        "reset_accumulated_memory_stats",
    ]
    for name in names:
        others[name] = answers[name]
    for name, answer in others.items():
        for module in (accelerator, getattr(accelerator, "memory", accelerator)):
            patches.put_if_there(module, name, answer)


def _pretend_history(patches: Patches, device: Device) -> None:
    """A program that records itself goes on: the predicted file is its recording."""
    memory = torch.cuda.memory
    patches.put_if_there(memory, "_record_memory_history", _nothing)
    patches.put_if_there(memory, "_dump_snapshot", _nothing)
    patches.put(memory, "_get_memory_metadata", lambda: device.metadata)
    patches.put(memory, "_set_memory_metadata", device.describe)
    patches.put_if_there(memory, "_snapshot", lambda *_, **__: {"segments": [], "device_traces": []})
    patches.put_if_there(torch._C, "_cuda_attach_out_of_memory_observer", _nothing)


def _nothing(*_: Any, **__: Any) -> None:
    return None
