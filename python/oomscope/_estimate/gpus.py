"""Devices that a program may be estimated for.

Memory is about what torch reports as `total_memory`, which is less than the name says. None of it was measured here, and it differs by some MiB
with driver and error correction: where that decides, give the size. Capabilities are those of developer.nvidia.com/cuda-gpus.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._sizes import parse_size

GIB = 1 << 30
MIB = 1 << 20


@dataclass(frozen=True)
class Gpu:
    """A kind of device."""

    name: str
    total_bytes: int
    capability: tuple[int, int]
    processors: int

    @property
    def context_bytes(self) -> int:
        """What the driver takes for a process that uses torch, before its first tensor."""
        return 500 * MIB


KNOWN = {
    "h200": Gpu("NVIDIA H200", 150_109_880_320, (9, 0), 132),
    "h100": Gpu("NVIDIA H100 80GB HBM3", 84_978_499_584, (9, 0), 132),
    "h100-80": Gpu("NVIDIA H100 80GB HBM3", 84_978_499_584, (9, 0), 132),
    "b200": Gpu("NVIDIA B200", 191_503_138_816, (10, 0), 148),
    "a100-80": Gpu("NVIDIA A100-SXM4-80GB", 84_987_740_160, (8, 0), 108),
    "a100": Gpu("NVIDIA A100-SXM4-80GB", 84_987_740_160, (8, 0), 108),
    "a100-40": Gpu("NVIDIA A100-SXM4-40GB", 42_298_834_944, (8, 0), 108),
    "l40s": Gpu("NVIDIA L40S", 47_697_362_944, (8, 9), 142),
    "l4": Gpu("NVIDIA L4", 23_670_685_696, (8, 9), 58),
    "a10": Gpu("NVIDIA A10G", 23_836_098_560, (8, 6), 80),
    "t4": Gpu("Tesla T4", 15_828_320_256, (7, 5), 40),
    "v100-32": Gpu("Tesla V100-SXM2-32GB", 34_079_637_504, (7, 0), 80),
    "v100-16": Gpu("Tesla V100-SXM2-16GB", 16_935_682_048, (7, 0), 80),
    "4090": Gpu("NVIDIA GeForce RTX 4090", 25_386_352_640, (8, 9), 128),
    "3090": Gpu("NVIDIA GeForce RTX 3090", 25_438_126_080, (8, 6), 82),
    "5090": Gpu("NVIDIA GeForce RTX 5090", 33_670_758_400, (12, 0), 170),
}


def find_gpu(text: str) -> Gpu:
    """A device by its name, such as `H100-80`, or by its memory, such as `80GiB`; then the rules are those of an H100.

    Raises `ValueError` for what is neither.
    """
    known = KNOWN.get(text.lower().removeprefix("rtx").removeprefix("-"))
    if known is not None:
        return known
    try:
        size = parse_size(text)
    except ValueError:
        raise ValueError(f"{text!r} is no size such as 80GiB, nor one of {', '.join(KNOWN)}") from None
    return Gpu("GPU", size, (9, 0), 132)
