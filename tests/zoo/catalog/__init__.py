"""What is in the zoo: every base with its variants. A base is a program as it is, a variant one with a remedy applied."""

from catalog import language, own, vision
from catalog.base import Base
from catalog.variants import in_parts, variants_of

__all__ = ["Base", "all_bases", "in_parts", "variants_of"]


def all_bases():
    """Every base, by name."""
    bases = [*vision.bases(), *language.bases(), *own.bases()]
    named = {base.name: base for base in bases}
    if len(named) != len(bases):
        raise ValueError("two bases have the same name")
    return named
