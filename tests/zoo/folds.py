"""Splits the zoo by architecture: every program of one architecture lies in the same fold."""

import hashlib

FOLDS = 4


def fold_of(architecture):
    """The fold of an architecture, by a hash of its name."""
    return hashlib.sha256(architecture.encode()).digest()[0] % FOLDS
