"""The version of the installed package."""

from __future__ import annotations

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("oomscope")
    except metadata.PackageNotFoundError:
        return "unknown"


__version__ = _installed()
