"""What autograd has saved for a backward: tensors that no object of Python's may hold.

Those that were packed by a hook, for offloading or checkpointing, are left as they are: to unpack them is to run the program.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

# What a node calls a tensor that it has saved, and that with its hook.
_SAVED, _RAW = "_saved_", "_raw_saved_"


class Graph:
    """Walks graphs, each node once. Nodes are kept meanwhile, so that their ids stay theirs."""

    def __init__(self, end_s: float) -> None:
        self.is_complete = True
        self._end_s = end_s
        self._nodes: dict[int, Any] = {}
        self._fields: dict[type, list[str]] = {}

    def saved_by(self, tensor: Any) -> Iterator[tuple[str, Any]]:
        """What is saved for the backward of a tensor, with the kind of operation: all that no other tensor has led to before."""
        waiting = [_grad_fn(tensor)]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in self._nodes:
                continue
            if len(self._nodes) % 256 == 0 and self._end_s < time.monotonic():
                self.is_complete = False
                return
            self._nodes[id(node)] = node
            for saved in self._saved_of(node):
                yield type(node).__name__, saved
            with contextlib.suppress(Exception):
                waiting.extend(next_node for next_node, _ in node.next_functions)

    def _saved_of(self, node: Any) -> Iterator[Any]:
        kind = type(node)
        if kind not in self._fields:
            self._fields[kind] = [name.removeprefix(_RAW) for name in dir(kind) if name.startswith(_RAW)]
        for field in self._fields[kind]:
            # One whose graph was freed, or of a torch that does not say whether there is a hook.
            with contextlib.suppress(Exception):
                raw = getattr(node, _RAW + field)
                raws = raw if isinstance(raw, (list, tuple)) else [raw]
                if all(one.unpack_hook is None for one in raws):
                    found = getattr(node, _SAVED + field)
                    yield from found if isinstance(found, (list, tuple)) else [found]


def _grad_fn(tensor: Any) -> Any | None:
    with contextlib.suppress(Exception):
        return tensor.grad_fn
    return None
