"""What programs of the zoo use to be recorded: their options, and what they declare about themselves.

A program is a script as somebody would write it. It reads `options`, calls `begin` and `done` if it records only a part
of itself, and `declare`s what is true of it. None of this allocates memory of the device or adds a frame to a stack.
"""

from bench.options import Options
from bench.remedies import autocast, checkpointed, chosen, make_optimizer, precision
from bench.session import Session

session = Session()
options = Options()

__all__ = [
    "autocast",
    "begin",
    "checkpointed",
    "chosen",
    "declare",
    "done",
    "make_optimizer",
    "options",
    "precision",
    "step",
]


def begin():
    """Start the recording, unless it runs already."""
    session.begin()


def step(number):
    """Say that a step begins: a recording that starts late starts here."""
    if number >= options.late:
        session.begin()


def done():
    """Write the recording, or the peaks of a variant."""
    session.done()


def declare(**facts):
    """Note what is true of the program: `model`, `blocks` (or `block_count`), `attention`, and what else it knows."""
    session.declare(facts, options)
