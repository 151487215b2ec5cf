"""One program of the zoo, before any remedy."""

import dataclasses

HISTORIES = {
    "": {"context": "all", "stacks": "python"},
    "alloc": {"context": "alloc", "stacks": "python"},
    "cpp": {"context": "all", "stacks": "all"},
    "bare": {"context": None},
}


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
    # What the program can do: "train", "checkpoint", "half" (every second block), "precision", "chunk".
    switches: frozenset = frozenset({"train", "checkpoint", "half", "precision"})
    # Remedies of which nobody can say whether they apply.
    neutral: frozenset = frozenset()
    history: str = ""
    addresses: str = "down"

    @property
    def name(self):
        """A name that is a file's, too."""
        parts = [self.architecture.replace(":", "_"), self.program, self.tag]
        return "--".join(part for part in parts if part)

    @property
    def records(self):
        """The arguments of `_record_memory_history`."""
        return HISTORIES[self.history]
