"""A program from its first line to where its estimate ends, and the file that is written then."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from .._census import Places, census
from .._marks import Marks
from .._messages import harmless, say
from .._modules import Modules
from .._programs import run_module, run_script
from .advice import advice
from .again import Again
from .children import Children
from .distributed import pretend_ranks
from .ending import Ending
from .engine import Engine
from .error import error_share
from .file_calls import catch_files
from .followed import end_workers, follow_loaders, follow_threads
from .gpus import Gpu
from .notebook import run_notebook
from .notes import Notes
from .overlay import Overlay
from .progress import Progress, failed_line
from .requests_file import facts_of, write_requests
from .saving import catch_saving
from .serving import refuse_engines
from .storages import HOST, Storages
from .triton_kernels import launch_nothing
from .weights import read_no_weights

# What the names of tensors and their holders may take: nobody's training waits.
CENSUS_S = 20.0
HOLDERS_S = 5.0

# Letters of an error's text: some have a page.
MAX_SAID = 200

# Paths that are listed.
MAX_WRITTEN = 500


@dataclass(frozen=True)
class Program:
    """What is run."""

    name: str
    arguments: list[str]
    is_module: bool

    def run(self) -> None:
        if self.is_module:
            run_module(self.name, self.arguments)
        elif self.name.endswith(".ipynb"):
            run_notebook(self.name, self.arguments)
        else:
            run_script(self.name, self.arguments)


@dataclass(frozen=True)
class Asked:
    """How it is run."""

    gpu: Gpu
    max_steps: int
    max_s: float
    ranks: int = 1
    rank: int = 0
    # Whether zeros stand in for what is not known.
    has_zeros: bool = False
    again: Again | None = None


@dataclass(frozen=True)
class Place:
    """Where it is run: apart from the disk, but for the thread that ends it."""

    overlay: Overlay
    ending: Ending


class Run:
    """A program that is estimated."""

    def __init__(
        self, program: Program, asked: Asked, place: Place, conclude: Callable[[str, Run], int]
    ) -> None:
        self.program = program
        self.notes = Notes()
        self.engine = Engine(asked.gpu, note=self.notes.add)
        self.engine.values.are_zeros = asked.has_zeros
        self.overlay = place.overlay
        self._ending = place.ending
        self.progress = Progress(asked.max_steps, asked.max_s, self.stop)
        # Why what is known is not all.
        self.lower_bound: str | None = None
        self.error: BaseException | None = None
        self.has_failed = False
        # Whether a second run was wanted, and there was none or it came to no end.
        self.has_no_range = False
        self.ranks = asked.ranks
        self._asked = asked
        self._conclude = conclude
        self._marks: Any = None
        self._modules: Any = None
        self._process = os.getpid()
        self._is_over = False
        self._children = Children(self.overlay, self.notes)
        self._began_s = time.monotonic()

    def run(self) -> NoReturn:
        """Runs the program, and ends this process with the exit code: nothing that the program left to its end runs."""
        self._start()
        try:
            self.program.run()
        except SystemExit as exit:
            if exit.code not in (None, 0):
                self.has_failed = True
                self.lower_bound = f"the program ended with {exit.code!r} after {self.progress.steps} steps"
        except KeyboardInterrupt:
            self.lower_bound = f"it was interrupted after {self.progress.steps} steps"
        except Exception as error:  # noqa: BLE001
            self.error, self.has_failed = error, True
            self.lower_bound = _what_failed(error)
        if os.getpid() != self._process:
            # A child that was forked and came this far is none of ours.
            os._exit(0)
        self._end()

    def _start(self) -> None:
        sys.dont_write_bytecode = True
        engine = self.engine
        catch_files(engine.patches, self.overlay)
        engine.start()
        catch_saving(engine.patches, self.overlay, engine.functions)
        self._children.watch(engine.patches)
        read_no_weights(engine.patches)
        launch_nothing(engine.patches, engine.storages, engine.device.gpu, self.notes)
        refuse_engines(engine.patches)
        if 1 < self.ranks:
            pretend_ranks(engine.patches, self.ranks, self._asked.rank)
        follow_threads(engine)
        follow_loaders(engine, self.progress.saw_batches)
        self._marks = Marks(torch)
        self._modules = Modules(torch, self._marks)
        self._modules.start()
        self.progress.start()
        engine.dispatch.now_and_then = self.progress.look_at_clock

    def stop(self, lower_bound: str | None) -> None:
        """The estimate ends in the middle of the program: nothing of it runs any more, so that no `finally` saves."""
        if os.getpid() != self._process or self._is_over:
            return
        self.lower_bound = lower_bound
        self._end()

    def _end(self) -> NoReturn:
        """Nothing comes back to the program from here, whatever happens: it would save, in place of what is there."""
        names: str | None = None
        try:
            names = self._stop_recording()
        finally:
            self._ending.hand_over(lambda: self._leave(names), self._interrupted)

    def _leave(self, names: str | None) -> NoReturn:
        code = 1
        try:
            code = self._finish(names)
        except BaseException as error:  # noqa: BLE001
            say(f"the estimate could not be finished: {type(error).__name__}: {error}")
        finally:
            self.overlay.clean()
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            os._exit(code)

    def _interrupted(self) -> None:
        """A second run is given up; whatever else ends is not waited for."""
        again = self._asked.again
        if again is None or not again.stop():
            say("it was interrupted before its end")
            self.overlay.clean()
            os._exit(1)

    def _stop_recording(self) -> str | None:
        """Names what there is at the end, while the device is still pretended; what dies later is no request."""
        self._is_over = True
        with contextlib.suppress(ValueError):
            # Handlers of the program would run here.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.progress.stop()
        self._modules.stop()
        names = None
        with harmless("naming tensors"):
            places = _Places(self.engine.storages)
            names = census(torch, max_s=CENSUS_S, holders_s=HOLDERS_S, places=places)
        self.engine.storages.finish()
        end_workers()
        return names

    def _finish(self, names: str | None) -> int:
        """Writes what is known, and has it told."""
        self.overlay.end()
        error = self._error()
        estimate = {
            "version": 1,
            "program": self.program.name,
            "steps": self.progress.steps,
            "lower_bound": self.lower_bound,
            "error_share": error,
            "notes": self.notes.as_list(),
            "would_write": list(self.overlay.written)[:MAX_WRITTEN],
        }
        snapshot: dict[str, Any] = {}
        self._marks.complete(snapshot)
        facts = facts_of(self.engine.device, self.progress.steps, names, estimate)
        if 1 < self.ranks:
            facts.update(rank=self._asked.rank, world_size=self.ranks)
        handle, path = tempfile.mkstemp(".pickle", "oomscope-requests-", self.overlay.root)
        try:
            with os.fdopen(handle, "wb") as file:
                write_requests(file, self.engine.storages, facts, snapshot.get("external_annotations", []))
            return self._conclude(path, self)
        finally:
            with contextlib.suppress(OSError):
                os.remove(path)

    def _error(self) -> float | None:
        """How far the prediction may be off; `None` where that is not known."""
        storages, values, again = self.engine.storages, self.engine.values, self._asked.again
        other = None
        # What starts other programs may do what it should do once.
        if again is not None and values.have_decided and self.lower_bound is None:
            if not self._children.are_there:
                other = again.most_bytes(time.monotonic() - self._began_s)
            if other is None:
                self.has_no_range = True
                return None
        return error_share(storages.most, storages.most_sure, storages.most_wide, other)


class _Places(Places):
    """Where tensors without memory are."""

    def __init__(self, storages: Storages) -> None:
        super().__init__(torch)
        self._storages = storages

    def is_on_device(self, tensor: Any) -> bool:
        return self.memory(tensor) is not None

    def memory(self, tensor: Any) -> tuple[int, int] | None:
        try:
            memory = self._storages.of(tensor)
        except Exception:  # noqa: BLE001
            return None
        is_there = memory is not None and memory.device != HOST and memory.address
        return (memory.address, memory.nbytes) if memory is not None and is_there else None


def _what_failed(error: BaseException) -> str:
    """Where a program failed, how, and what to do about it."""
    where, lines, what_to_do = failed_line(error), str(error).strip().splitlines(), advice(error)
    said = textwrap.shorten(lines[0], MAX_SAID, placeholder=" …") if lines else ""
    text = f"{where + ': ' if where else ''}{type(error).__name__}: {said}"
    return f"{text.rstrip('.')}. {what_to_do}" if what_to_do else text
