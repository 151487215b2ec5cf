"""How far a prediction may be off: by what a file's own unknowns decide, and by as much as others were where nothing was unknown."""

from __future__ import annotations

# Where nothing stands in: docs/estimate.md has the figures.
LEAST = 0.03

# Twice as much, or nothing.
MOST = 1.0


def error_share(
    most: dict[int, int], sure: dict[int, int], wide: dict[int, int], other_bytes: int | None
) -> float:
    """A share of what is predicted, from 0 to 1: `most` bytes by device; without workspaces of guessed sizes (`sure`), with twice as much for
    them (`wide`), and on the first device with other stand-ins."""
    most_bytes = most.get(0, 0)
    if not most_bytes:
        return LEAST
    guessed = max(1 - sure.get(0, 0) / most_bytes, wide.get(0, 0) / most_bytes - 1)
    other = 0.0 if other_bytes is None else abs(other_bytes / most_bytes - 1)
    return min(max(LEAST, guessed, other + LEAST if other else 0.0), MOST)
