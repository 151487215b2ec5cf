"""What tasks are made of."""

import dataclasses
from collections.abc import Callable

import torch


@dataclasses.dataclass
class Task:
    """A model with what trains it."""

    model: torch.nn.Module
    # Tensors of so many samples, on the host.
    batch: Callable
    # The loss of a model for such tensors on the device.
    loss: Callable
    blocks: list
    # "written", "fused", or nothing.
    attention: str = ""
    # The library's own switch for checkpoints of all blocks.
    checkpoint: Callable = None

    def set_checkpoints(self, which):
        """Checkpoint all blocks with the library's switch, or every second one by hand."""
        from bench import checkpointed

        if which == "all" and self.checkpoint:
            self.checkpoint()
        else:
            checkpointed(self.blocks, which)


def modules_at(model, path):
    """The modules at a path in which `*` stands for every child."""
    found = [model]
    for part in path.split("."):
        if part == "*":
            found = [child for module in found for child in module.children()]
        else:
            found = [getattr(module, part) for module in found if hasattr(module, part)]
    return found
