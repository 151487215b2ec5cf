"""What an estimate says first: what the program needs, whether it fits, and the largest batch or the cheapest change that does."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from .gpus import GIB, Gpu

# Covers the peaks of 97 % of the zoo, and of 91 % of programs by another author: docs/estimate.md has the figures.
ERROR = 0.03

# `oomscope fixes` looks no further.
MOST_BATCHES = 16

WIDTH = 100


class Answer:
    """The answer for one device, from what `oomscope lay-out` measured."""

    def __init__(self, gpu: Gpu, laid: dict[str, Any], on_device: dict[str, Any], batch: int | None) -> None:
        self.capacity_bytes: int = on_device["capacity_bytes"]
        self._gpu = gpu
        self._batch = batch
        self._fits: bool = on_device["fits"]
        # What the driver takes counts, too: the whole device is what is asked for.
        self.needed_bytes: int = laid["smallest_capacity_bytes"] + gpu.context_bytes

    @property
    def fits(self) -> bool:
        """Whether all requests are met on this device."""
        return self._fits

    @property
    def is_close(self) -> bool:
        """Whether the device lies within the error of the prediction."""
        return abs(self.needed_bytes - self._gpu.total_bytes) <= ERROR * self.needed_bytes

    def lines(self, fixes: dict[str, Any] | None, lower_bound: str | None) -> Iterator[str]:
        """The answer in words; `fixes` is what `oomscope fixes` says for this device."""
        least = "at least " if lower_bound is not None else ""
        needs = f"Needs {least}{_gib(self.needed_bytes)} GiB (±{100 * ERROR:.0f} %)"
        of = f"of {_gib(self._gpu.total_bytes)} ({self._gpu.name})"
        verdict = "fits" if self.fits else "does not fit"
        verdict += ", but only just" if self.fits and self.is_close else ""
        verdict += ", by little" if not self.fits and self.is_close else ""
        yield f"{needs} {of}: {verdict}{self._largest_batch(fixes)}."
        change = None if self.fits else _cheapest(fixes)
        if change is not None:
            yield from textwrap.wrap(
                f"The cheapest change that fits: {change}.", WIDTH, subsequent_indent="  "
            )

    def _largest_batch(self, fixes: dict[str, Any] | None) -> str:
        factor = ((fixes or {}).get("largest_batch") or {}).get("factor")
        if factor is None:
            return ""
        is_most = MOST_BATCHES <= factor
        if self._batch is None:
            return (
                ", also with a batch 16 times as large"
                if is_most
                else f", largest batch about {factor:.2g} times this one"
            )
        count = int(factor * self._batch)
        if is_most:
            return f", also with a batch of {count} (now {self._batch})"
        return f", largest batch about {count} (now {self._batch})" if count else ""


def _cheapest(fixes: dict[str, Any] | None) -> str | None:
    """The title of the first plan that fits."""
    plans = (fixes or {}).get("plans") or []
    remedies = {remedy["id"]: remedy["title"] for remedy in (fixes or {}).get("remedies", [])}
    return f"{remedies[plans[0]]} ({plans[0]})" if plans and plans[0] in remedies else None


def _gib(size_bytes: int) -> str:
    gib = size_bytes / GIB
    return f"{gib:.3g}" if gib < 100 else f"{gib:.0f}"
