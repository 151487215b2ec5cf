"""Programs that are written by hand, each in a hand of its own."""

from catalog.base import Base

ALL = frozenset({"train", "checkpoint", "half", "precision", "chunk"})


def own(program, tag="", switches=ALL, **options):
    """A program that is its own architecture."""
    extra = {k: options.pop(k) for k in ("history", "addresses", "neutral") if k in options}
    return Base(f"own:{program}", program, options, tag, frozenset(switches), **extra)


def bases():
    """Every base of this kind."""
    return [
        own("gpt_residual", attention="written"),
        own("gpt_residual", "amp", attention="sdpa", autocast=True, optimizer="adamw-fused"),
    ]
