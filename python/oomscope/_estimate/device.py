"""What `torch.cuda` answers while there is no device: one that has all memory it is asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from .gpus import Gpu
from .storages import Storages
from .streams import Stream


class Device:
    """The answers of `torch.cuda`."""

    def __init__(self, storages: Storages, gpu: Gpu, count: int) -> None:
        self._storages = storages
        self._gpu = gpu
        self._count = count
        self._current = 0
        self._stream = Stream(stream_id=0)

    def enter(self, stream: Any) -> Any:
        """Work goes to a stream from now on; returns the one before."""
        before, self._stream = self._stream, stream if stream is not None else self._stream
        self._storages.stream = int(self._stream.stream_id)
        return before

    @property
    def metadata(self) -> str:
        """What is written with each request."""
        return self._storages.metadata

    def describe(self, text: str) -> None:
        self._storages.metadata = text

    def properties(self, device: Any = None) -> Any:
        del device
        gpu = self._gpu
        return SimpleNamespace(
            name=gpu.name,
            total_memory=gpu.total_bytes,
            major=gpu.capability[0],
            minor=gpu.capability[1],
            multi_processor_count=gpu.processors,
            max_threads_per_multi_processor=2048,
            max_threads_per_block=1024,
            regs_per_multiprocessor=65536,
            shared_memory_per_block=49152,
            shared_memory_per_block_optin=232448,
            shared_memory_per_multiprocessor=233472,
            warp_size=32,
            is_multi_gpu_board=0,
            is_integrated=0,
            gcnArchName="",
            L2_cache_size=50 << 20,
            uuid="00000000-0000-0000-0000-000000000000",
            pci_bus_id=0,
            pci_device_id=0,
            pci_domain_id=0,
        )

    def allocated(self, device: Any = None) -> int:
        return self._storages.allocated.get(self.index(device), 0)

    def peak(self, device: Any = None) -> int:
        return self._storages.peak.get(self.index(device), 0)

    def reset_peak(self, device: Any = None) -> None:
        self._storages.peak[self.index(device)] = self.allocated(device)

    def free_and_total(self, device: Any = None) -> tuple[int, int]:
        total = self._gpu.total_bytes
        return max(total - self._gpu.context_bytes - self.allocated(device), 0), total

    def empty_cache(self) -> None:
        self._storages.empty_cache(self._current)

    def stats(self, device: Any = None) -> dict[str, int]:
        now, peak = self.allocated(device), self.peak(device)
        return {
            f"{name}.all.{kind}": value
            for name in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
            for kind, value in (("current", now), ("peak", peak), ("allocated", peak), ("freed", peak - now))
        } | {"num_alloc_retries": 0, "num_ooms": 0}

    def index(self, device: Any = None) -> int:
        if device is None:
            return self._current
        if isinstance(device, int):
            return device if 0 <= device else self._current
        index = torch.device(device).index
        return self._current if index is None else int(index)

    def set_current(self, device: Any) -> None:
        index = self.index(device)
        if self._count <= index:
            raise RuntimeError(
                f"CUDA error: invalid device ordinal: device {index} of {self._count} that are estimated"
            )
        self._current = self._storages.current = index

    def exchange(self, device: Any) -> int:
        before = self._current
        if device is not None and 0 <= device:
            self.set_current(device)
        return before

    @property
    def current(self) -> int:
        return self._current

    @property
    def count(self) -> int:
        return self._count

    @property
    def stream(self) -> Any:
        return self._stream

    @property
    def gpu(self) -> Gpu:
        return self._gpu
