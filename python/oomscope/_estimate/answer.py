"""What an estimate says first: what the program needs, whether it fits, and the largest batch or the cheapest change that does."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

# `oomscope fixes` looks no further.
MOST_BATCHES = 16

WIDTH = 100


class Answer:
    """The answer for one device, from what `oomscope lay-out` says of it: its words are those of every report."""

    def __init__(self, on_device: dict[str, Any], batch: int | None) -> None:
        self.capacity_bytes: int = on_device["capacity_bytes"]
        # Whether all requests are met on this device.
        self.fits: bool = on_device["fits"]
        self._needs: str = on_device["needs_text"] or "What it needs is not known"
        self._batch = batch

    def lines(self, fixes: dict[str, Any] | None) -> Iterator[str]:
        """The answer in words; `fixes` is what `oomscope fixes` says for this device."""
        yield f"{self._needs}{self._largest_batch(fixes)}."
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
