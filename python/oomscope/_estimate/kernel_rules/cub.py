"""Tables of cub, with which CUDA sorts, adds up and selects. Exact as recorded for a Hopper; tiles of other architectures have other sizes,
which matters little.

A sort is laid out as in `cub/device/dispatch/dispatch_radix_sort.cuh` (InvokeOnesweep). The rest, and how large a tile is, was found by
recording with torch 2.15, 2.9 and 2.4.
"""

from __future__ import annotations

from ..kernels import Kernels

# cub has each of its tables begin at such an address.
ALIGNMENT = 256

# Digits that a pass of a radix sort tells apart, by their bits.
RADIX_BITS = 8

OFFSET = 8

# Elements that one block sorts where they are, by the bytes of the wider of key and value.
ONE_BLOCK = {1: 4864, 2: 4864, 4: 4864, 8: 2304}

# Elements of a tile of a radix sort, by the bytes of a key and of what is sorted with it.
TILES = {
    (1, 0): 9728,
    (2, 0): 9728,
    (4, 0): 7296,
    (8, 0): 5760,
    (1, 8): 3456,
    (2, 8): 5632,
    (4, 4): 6528,
    (4, 8): 5376,
    (8, 4): 5760,
    (8, 8): 4608,
}
OLD_TILES = {(4, 0): 8064, (8, 0): 3840, (4, 4): 6528, (4, 8): 3072, (8, 4): 3840, (8, 8): 3840}

# Elements of a tile of a scan, and of a selection, by their bytes.
SCAN_TILES = {1: 1900, 2: 3840, 4: 1920, 8: 896, 16: 384}
SELECT_TILES = {1: 5632, 2: 1280, 4: 6528, 8: 4224}

# How many blocks of a pass there are for each processor: eight at once, five times as many in all.
BLOCKS = 40

# Blocks of a total write at most so many parts.
FEW = 4096


def is_old(kernels: Kernels) -> bool:
    """Whether cub is that of CUDA 12.1, as torch 2.4 has it; where between 2.4 and 2.9 it changed was not measured."""
    return kernels.version < (2, 6)


def table(kernels: Kernels, *sizes: int) -> int:
    """Tables in one piece."""
    more = ALIGNMENT if (2, 10) <= kernels.version else 0
    return tables(*sizes) + more


def tables(*sizes: int) -> int:
    return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes) + ALIGNMENT - 1


def sort_bytes(kernels: Kernels, count: int, key: int, value: int = 0, bits: int | None = None) -> int:
    """What a radix sort asks for: tables, and copies of what it sorts if it takes more than one pass."""
    if count <= ONE_BLOCK.get(max(key, value), ONE_BLOCK[8]):
        return 1
    if is_old(kernels) and key < 4:
        digits = 1 << (5 + key)
        spine = BLOCKS * kernels.gpu.processors * digits + 5632
        return tables(spine * OFFSET, count * key, count * value)
    passes = -(-(8 * key if bits is None else bits) // RADIX_BITS)
    sizes = OLD_TILES if is_old(kernels) else TILES
    blocks = -(-count // sizes.get((key, value), TILES[8, 8]))
    digits = 1 << RADIX_BITS
    copied = count if 1 < passes else 0
    return tables(passes * digits * OFFSET, blocks * digits * 4, copied * key, copied * value, passes * 4)


def scan_bytes(kernels: Kernels, count: int, width: int, is_plain: bool = True) -> int:
    """What a scan asks for: a word for each tile, of a type that is no number three tables."""
    if is_plain:
        return table(kernels, (-(-count // SCAN_TILES[width]) + 32) * 2 * width)
    tiles = -(-count // SCAN_TILES[width]) + 32
    return tables(tables(tiles * (1 if is_old(kernels) else 4), tiles * width, tiles * width))


def mark_bytes(kernels: Kernels, count: int) -> int:
    """What a scan of marks asks for, which are made as they are read."""
    return table(kernels, (-(-count // (1920 if is_old(kernels) else 3072)) + 32) * 8)


def select_bytes(kernels: Kernels, count: int, width: int = 8) -> int:
    """What picking some out asks for."""
    size = SELECT_TILES.get(width, SELECT_TILES[8])
    if is_old(kernels):
        size = 640 if width == 8 else 1280
    return table(kernels, (-(-count // size) + 32) * 8)


def unique_bytes(kernels: Kernels, count: int, width: int) -> int:
    """What finding where runs begin asks for."""
    if is_old(kernels):
        return tables((-(-count // (320 if width == 8 else 704)) + 32) * 8)
    size = 7168 if width == 4 else 4900 if (2, 10) <= kernels.version else 4480
    return table(kernels, (-(-count // size) + 32) * 16)


def run_bytes(count: int) -> int:
    """What counting runs asks for."""
    return tables((-(-count // 768) + 32) * 16)


def place_bytes(kernels: Kernels, count: int, width: int) -> int:
    """What numbering the elements of each run asks for: the last key of each tile, too."""
    tiles = -(-count // (2304 if is_old(kernels) else 2464))
    return tables((tiles + 32) * 16, tiles * width)


def total_bytes(kernels: Kernels, count: int) -> int:
    """What a total of small numbers asks for."""
    return 1 if count <= FEW else tables(BLOCKS * kernels.gpu.processors * 4)
