"""`oomscope estimate`, which is `python -m oomscope estimate`."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._messages import say
from .._program import find_program
from .again import Again, answer_again, end_with_parent
from .answer import Answer
from .ending import Ending
from .gpus import Gpu, find_gpu
from .guard import write_only_in
from .notes import NUMBER
from .overlay import Overlay

if TYPE_CHECKING:
    from .run import Run

# The largest file that is laid out in this time.
TIMEOUT_S = 600.0

# What `check` exits with, too, where a program outgrows its device.
DOES_NOT_FIT = 3


def parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="oomscope estimate",
        description="Run a Python program without a GPU and write the snapshot that a GPU would give.",
        epilog="Everything after -- belongs to the program: oomscope estimate train.py --device 80GiB -- --lr 1e-4",
    )
    add = parser.add_argument
    add(
        "--device",
        default="80GiB",
        metavar="SIZES",
        help="memory, or names such as H100-80, of devices, with commas between them; the first one is pretended (default: %(default)s)",
    )
    add(
        "--steps",
        type=int,
        default=2,
        metavar="N",
        help="steps of the optimizer that are run (default: %(default)s)",
    )
    add(
        "--seconds",
        type=float,
        default=600,
        metavar="S",
        help="the longest time it may take (default: %(default)s)",
    )
    add(
        "--ranks",
        type=int,
        default=1,
        metavar="N",
        help="processes of the job, of which one is estimated (default: %(default)s)",
    )
    add("--rank", type=int, default=0, metavar="R", help="which one, from 0 (default: %(default)s)")
    add(
        "-o",
        "--output",
        default="snapshots/estimate.pickle",
        metavar="FILE",
        help="the predicted snapshot (default: %(default)s)",
    )
    add(
        "--once",
        action="store_true",
        help="do not run it a second time where stand-ins decide how large something is",
    )
    add(
        "--writable",
        action="append",
        default=[],
        metavar="FOLDER",
        help="let the program really write into a folder; may be given more than once",
    )
    # The second run, which leaves its answer in a file.
    add("--zeros", help=argparse.SUPPRESS)
    add("--traceback", action="store_true", help="print the whole traceback where the program fails")
    add("-m", dest="is_module", action="store_true", help="the program is a module, as in python -m")
    add("program", metavar="PROGRAM", help="the program")
    return parser


def estimate(arguments: list[str]) -> int:
    """Estimates a program; returns 0 if it fits, 3 if it fits on none of the devices, 1 where nothing is known."""
    own, rest = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, rest = arguments[:at], arguments[at + 1 :]
    asked, unknown = parser().parse_known_args(own)
    if unknown:
        parser().error(f"{unknown[0]} is no option of this command; options of the program come after --")
    if not 0 <= asked.rank < asked.ranks:
        parser().error(f"there is no rank {asked.rank} of {asked.ranks}")
    if not asked.is_module and not os.path.exists(asked.program):
        parser().error(f"there is no file {asked.program}")
    try:
        gpus = [find_gpu(text) for text in asked.device.split(",")]
    except ValueError as error:
        parser().error(str(error))
    if find_program() is None:
        say("the program is not installed beside this package: pip install oomscope")
        return 1
    if 1 < asked.ranks:
        # It warns of devices that it has no clock for, before anybody can ask it not to.
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    again = None if asked.once or asked.zeros else Again(own, rest)
    # The folder that the user is in, wherever the program goes.
    output = Path(asked.output).absolute()
    overlay = Overlay(writable=asked.writable)
    ending = Ending()
    # Libraries make folders for their caches there while they are imported.
    os.environ["TMPDIR"] = tempfile.tempdir = overlay.root
    write_only_in([overlay.root, *overlay.writable])
    try:
        with _no_devices():
            from .run import Asked, Place, Program, Run
        program = Program(asked.program, rest, asked.is_module)
        place = Place(overlay, ending)
        how = Asked(gpus[0], asked.steps, asked.seconds, asked.ranks, asked.rank, bool(asked.zeros), again)
        conclude: Callable[[str, Run], int] = _Conclusion(output, gpus, asked.traceback).tell
        if asked.zeros:
            end_with_parent()
            conclude = _AnswerAgain(asked.zeros).tell
        # This ends the process.
        Run(program, how, place, conclude).run()
    except ImportError as error:
        say(f"this needs torch, which cannot be imported: {error}")
        return 1
    finally:
        overlay.clean()


class _AnswerAgain:
    """Leaves the answer of a second run."""

    def __init__(self, path: str) -> None:
        self._path = path

    def tell(self, _: str, run: Run) -> int:
        """Writes it; returns the exit code."""
        answer_again(self._path, run.engine.storages.most.get(0, 0), run.lower_bound is not None)
        return 0


@contextlib.contextmanager
def _no_devices() -> Iterator[None]:
    """Has CUDA see no device, whatever there is: it looks once for a process, and a program may name devices later."""
    name = "CUDA_VISIBLE_DEVICES"
    before = os.environ.get(name)
    os.environ[name] = ""
    try:
        yield
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sys.modules["torch"]._C._cuda_getDeviceCount()
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


class _Conclusion:
    """Has the requests laid out, and says what follows."""

    def __init__(self, output: Path, gpus: list[Gpu], has_traceback: bool) -> None:
        self._output = output
        self._gpus = gpus
        self._has_traceback = has_traceback

    def tell(self, requests: str, run: Run) -> int:
        """Writes the predicted snapshot and prints the answer; returns the exit code."""
        if run.error is not None and self._has_traceback:
            error = run.error
            traceback.print_exception(type(error), error, error.__traceback__)
        if not run.engine.storages.requests:
            say(run.lower_bound or "the program used no device; nothing was estimated")
            return 1
        self._output.parent.mkdir(parents=True, exist_ok=True)
        devices = [f"--device={gpu.name}={gpu.total_bytes}:{gpu.context_bytes}" for gpu in self._gpus]
        laid = ask_program(["lay-out", requests, "-o", str(self._output), *devices])
        if laid is None:
            return 1
        answers = [Answer(laid["devices"][0]["on"][at], run.progress.batch) for at in range(len(self._gpus))]
        for answer in answers:
            fixes = ask_program(
                ["fixes", str(self._output), "--format", "json", "--capacity", str(answer.capacity_bytes)]
            )
            for line in answer.lines(fixes):
                print(line)
        if run.lower_bound is not None:
            print(f"At least: {run.lower_bound.replace(str(Path.cwd()) + os.sep, '', 1)}")
        unknown = [note for note in run.notes.as_list() if note["what"] != NUMBER]
        if unknown:
            print(f"Not known, so that something stands in: {_stand_ins(unknown)}.")
        if run.has_no_range:
            print("There was no second run with other stand-ins to its end, so that no range is known.")
        if 1 < run.ranks:
            print("NCCL's buffers are not in this: 1 to 6 GB by reports (docs/estimate.md).")
        if run.overlay.written:
            print(f"Would have written {_listed(list(run.overlay.written))}; nothing was.")
        print(f"{_shown(self._output)}: oomscope report, oomscope fixes, or oomscope opens it")
        sys.stdout.flush()
        if run.has_failed:
            return 1
        return 0 if any(answer.fits for answer in answers) else DOES_NOT_FIT


def ask_program(arguments: list[str]) -> dict[str, Any] | None:
    """What the program answers, as JSON; `None`, with its own words, where it fails."""
    try:
        done = subprocess.run(
            [str(find_program()), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            # All that is asked is said: settings of the user have no place here.
            env={**os.environ, "OOMSCOPE_CONFIG": ""},
        )
    except subprocess.TimeoutExpired:
        say(f"oomscope {arguments[0]} took longer than {TIMEOUT_S:.0f} s")
        return None
    if done.returncode != 0:
        say(done.stderr.decode(errors="replace").strip() or f"oomscope {arguments[0]} failed")
        return None
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _stand_ins(notes: list[dict[str, Any]]) -> str:
    shown = [
        f"{note['what']} ({_shown(Path(note['where'].rpartition(':')[0]))}:{note['where'].rpartition(':')[2]})"
        for note in notes[:2]
    ]
    more = len(notes) - len(shown)
    return "; ".join(shown) + (f"; {more} more, which the JSON of oomscope report lists" if more else "")


def _listed(paths: list[str]) -> str:
    shown = ", ".join(_shown(Path(path)) for path in paths[:3])
    return shown if len(paths) <= 3 else f"{shown} and {len(paths) - 3} more"


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
