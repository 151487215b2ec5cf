"""`oomscope run`, which is `python -m oomscope run`: a program is recorded that knows nothing of it."""

from __future__ import annotations

import argparse
import os

from ._after_import import after_import
from ._messages import harmless, say
from ._options import MAX_BYTES, MAX_ENTRIES, MAX_FILES, read_signal
from ._programs import run_module, run_script
from ._recording import Recording, record
from ._signals import spare
from ._sizes import show_size


def parser() -> argparse.ArgumentParser:
    """The options, which are those of `record`."""
    parser = argparse.ArgumentParser(
        prog="oomscope run",
        description="Run a Python program and write snapshots of its GPU memory.",
        epilog="torchrun --nproc-per-node 8 -m oomscope run train.py ARGS records each rank.",
    )
    add = parser.add_argument
    add("-d", "--dir", default="snapshots", help="write snapshots to this directory (default: %(default)s)")
    add("--no-oom", action="store_true", help="do not write a snapshot when memory runs out")
    add(
        "--signal",
        default="SIGUSR2",
        help="write a snapshot on this signal; 'none' for no signal (default: %(default)s)",
    )
    add("--after-steps", type=int, metavar="N", help="write a snapshot after N steps of the optimizer")
    add(
        "--on-peak",
        metavar="SIZE",
        help="write a snapshot when a step ends with a new peak above this size, such as 60GiB",
    )
    add(
        "--at-end",
        action=argparse.BooleanOptionalAction,
        help="write a snapshot at the end (default: only if there is no other)",
    )
    add(
        "--max-entries",
        type=int,
        default=MAX_ENTRIES,
        metavar="N",
        help="keep at most N events of the history (default: %(default)s)",
    )
    add(
        "--stacks",
        choices=("all", "python"),
        default="all",
        help="frames of stacks; 'python' leaves out those of C++ (default: %(default)s)",
    )
    add(
        "--max-files",
        type=int,
        default=MAX_FILES,
        metavar="N",
        help="keep at most N snapshots (default: %(default)s)",
    )
    most = show_size(MAX_BYTES).replace(" ", "")
    add(
        "--max-bytes",
        default=most,
        metavar="SIZE",
        help="keep snapshots of at most this size in all (default: %(default)s)",
    )
    add("--no-verdict", action="store_true", help="do not print the verdict of oomscope report at the end")
    add("--no-census", action="store_true", help="do not record the names of tensors")
    add("--modules", action="store_true", help="record which module made each allocation")
    add("--redact", action="store_true", help="replace the names of tensors, modules and variables by hashes")
    add("--no-ranks", action="store_true", help="do not write a snapshot when another rank of the job fails")
    add("-m", dest="is_module", action="store_true", help="run a module, as python -m does")
    add("program", nargs=argparse.REMAINDER, metavar="PROGRAM ARGS", help="the program and its arguments")
    return parser


def run(arguments: list[str]) -> int:
    """Runs the program; exceptions and exit codes are its own."""
    asked = parser().parse_args(arguments)
    if not asked.program:
        parser().error("which program?")
    name, rest = asked.program[0], asked.program[1:]
    if not asked.is_module and not os.path.exists(name):
        parser().error(f"there is no file {name}")
    number = _signal(asked)
    if number is not None:
        # Importing torch takes seconds, and more where files are slow.
        with harmless("waiting for a signal"):
            spare(number)
    # A program may set variables before it imports torch, or never import it.
    recordings: list[Recording] = []
    after_import("torch", lambda: recordings.append(_record(asked)))
    (run_module if asked.is_module else run_script)(name, rest)
    if not any(recording.is_active for recording in recordings):
        say("the program used no device; nothing was recorded")
    return 0


def _record(asked: argparse.Namespace) -> Recording:
    return record(
        asked.dir,
        oom=not asked.no_oom,
        signal=_signal(asked),
        after_steps=asked.after_steps,
        on_peak=asked.on_peak,
        at_end=asked.at_end,
        max_entries=asked.max_entries,
        stacks=asked.stacks,
        max_files=asked.max_files,
        max_bytes=asked.max_bytes,
        verdict=not asked.no_verdict,
        census=not asked.no_census,
        ranks=not asked.no_ranks,
        redact=asked.redact,
        modules=asked.modules,
    )


def _signal(asked: argparse.Namespace) -> int | None:
    return None if asked.signal.lower() == "none" else read_signal(asked.signal)
