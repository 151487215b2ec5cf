"""One program of the zoo, before any remedy."""

import dataclasses

HISTORIES = {
    "": {"context": "all", "stacks": "python"},
    "alloc": {"context": "alloc", "stacks": "python"},
    "cpp": {"context": "all", "stacks": "all"},
    "bare": {"context": None},
}
TRAINS = frozenset({"train", "batch", "checkpoint", "precision"})
CHECKPOINTS = frozenset({"checkpoint-all", "checkpoint-half"})


@dataclasses.dataclass(frozen=True)
class Base:
    """An architecture in a style, with its options."""

    # `library:name`, or `own:name` for a program that is its own architecture. Folds go by it.
    architecture: str
    # The script in `programs/`.
    program: str
    options: dict
    # Tells bases of one architecture and program apart.
    tag: str = ""
    # What the program can do: "train", "batch" (smaller ones), "checkpoint", "precision", "chunk".
    switches: frozenset = TRAINS
    # Remedies that may apply, but that the program has no switch for.
    neutral: frozenset = frozenset()
    history: str = ""
    addresses: str = "down"

    @property
    def name(self):
        """A name that is a file's, too."""
        program = "" if self.architecture == f"own:{self.program}" else self.program
        return "--".join(part for part in (self.architecture.replace(":", "_"), program, self.tag) if part)

    @property
    def records(self):
        """The arguments of `_record_memory_history`."""
        return HISTORIES[self.history]


def base(
    architecture, program, batch, tag="", switches=TRAINS, neutral=(), history="", addresses="down", **options
):
    """A base from its options; what has no blocks may have others that could be checkpointed."""
    neutral = frozenset(neutral)
    if "checkpoint" not in switches and "train" in switches:
        neutral |= CHECKPOINTS
    if program == "lightning_module":
        options.setdefault("zero", "before_backward")  # Where Lightning does it.
    if "train" not in switches:
        neutral |= {"bf16-autocast"}
    if options.get("autocast"):
        neutral |= {"bf16-model"}
    options = {"architecture": architecture, "batch": batch, **options}
    return Base(architecture, program, options, tag, frozenset(switches), neutral, history, addresses)
