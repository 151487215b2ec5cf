"""Sizes as the program reads and writes them: binary units, whatever they are called."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)I?B?\s*", re.IGNORECASE)


def parse_size(size: int | str) -> int:
    """Bytes of `60GiB`, `60GB`, `60G` or a number."""
    if isinstance(size, int):
        return size
    found = _SIZE.fullmatch(size)
    if found is None:
        raise ValueError(f"{size!r} is no size such as 60GiB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def show_size(size_bytes: int) -> str:
    """Three digits and a unit."""
    value, unit = float(size_bytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return (
        f"{size_bytes} B" if unit == "B" else f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"
    )
