"""The switches of a program. A base sets some; a variant changes those that its remedy is about."""

import dataclasses


@dataclasses.dataclass
class Options:
    """How a program of the zoo runs."""

    architecture: str = ""
    batch: int = 8
    accumulate: int = 1
    # Samples in a batch of evaluation; 0: as many as in training. A smaller batch of training leaves it as it is.
    evaluation_batch: int = 0
    steps: int = 3
    optimizer: str = "adamw"
    # "none", "all", "half" or "first:N": which blocks are checkpointed.
    checkpoint: str = "none"
    # Whether what autograd keeps for the backward goes to the host.
    save_on_cpu: bool = False
    autocast: bool = False
    # Weights, and with them everything else, in bfloat16.
    bf16: bool = False
    # "written" or "sdpa"; empty where a program has no choice.
    attention: str = ""
    # When gradients go: "after" the step, "before_forward", "before_backward", or "fill" them with zeros after the step.
    zero: str = "after"
    clip: float = 0.0
    # Evaluation between steps: "" for none, "no_grad" or "graph".
    evaluate: str = ""
    chunk_loss: bool = False
    # The step at which the recording starts; 0: before anything else.
    late: int = 0
    # Whatever an architecture can be asked for: layers, width, length, size of images.
    size: dict = dataclasses.field(default_factory=dict)

    def change(self, **values):
        """Set some switches."""
        for name, value in values.items():
            if not hasattr(self, name):
                raise ValueError(f"there is no option {name!r}")
            setattr(self, name, value)
