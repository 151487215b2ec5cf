"""Random numbers of parameters that are made on the CPU: nobody sees them, but what is drawn after them is as in a real run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# Numbers that are drawn for nothing, which takes some seconds; a larger model has other batches than a real run.
MAX_DRAWN = 1 << 28

# Numbers at a time. Torch draws them in groups of 16, and in another way where there are fewer.
PART = 1 << 20
GROUP = 16


class Chance:
    """Draws what a program would draw on the CPU."""

    def __init__(self) -> None:
        self._left = MAX_DRAWN

    def draw(self, func: Any, tensor: Any, *args: Any, **kwargs: Any) -> None:
        """Numbers for a tensor that has no memory, by the operator that fills it."""
        count = int(tensor.numel())
        if not self._may_draw(count):
            return
        while count:
            part = count if count < PART + GROUP else PART
            func(torch.empty(part, dtype=tensor.dtype), *args, **kwargs)
            count -= part

    def truncated(self, fill: Callable[..., Any], is_on_host: Callable[[Any], bool]) -> Callable[..., Any]:
        """In place of what tries until all numbers are within limits, and would ask tensors without memory whether they are."""

        def filled(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if is_on_host(tensor) and self._may_draw(int(tensor.numel())):
                fill(torch.empty(tensor.size(), dtype=tensor.dtype), *args, **kwargs)
            return tensor

        return filled

    def _may_draw(self, count: int) -> bool:
        is_little = count <= self._left
        self._left -= count if is_little else 0
        return is_little
