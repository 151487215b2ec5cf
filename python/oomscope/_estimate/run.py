"""A program from its first line to where its estimate ends, and the file that is written then."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .._census import Places, census
from .._marks import Marks
from .._messages import harmless
from .._modules import Modules
from .._programs import run_module, run_script
from .distributed import pretend_ranks
from .engine import Engine
from .file_calls import catch_files
from .gpus import Gpu
from .notebook import run_notebook
from .notes import Notes
from .overlay import Overlay
from .progress import Progress, failed_line
from .requests_file import facts_of, write_requests
from .saving import catch_saving
from .storages import HOST, Storages
from .weights import read_no_weights

# What the names of tensors and their holders may take: nobody's training waits.
CENSUS_S = 20.0
HOLDERS_S = 5.0

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


class Run:
    """A program that is estimated."""

    def __init__(
        self,
        program: Program,
        gpu: Gpu,
        max_steps: int,
        max_s: float,
        conclude: Callable[[str, Run], int],
        ranks: int = 1,
    ) -> None:
        self.ranks = ranks
        self.program = program
        self.notes = Notes()
        self.engine = Engine(gpu, note=self.notes.add)
        self.overlay = Overlay()
        self.progress = Progress(max_steps, max_s, self.stop)
        # Why what is known is not all.
        self.lower_bound: str | None = None
        self.error: BaseException | None = None
        self.has_failed = False
        self._conclude = conclude
        self._marks: Any = None
        self._modules: Any = None
        self._process = os.getpid()
        self._is_over = False

    def run(self) -> int:
        """Runs the program; returns the exit code."""
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
            where = failed_line(error)
            self.lower_bound = f"{where + ': ' if where else ''}{type(error).__name__}: {_first_line(error)}"
        if os.getpid() != self._process:
            # A child that was forked and came this far is none of ours.
            os._exit(0)
        return self._finish()

    def _start(self) -> None:
        sys.dont_write_bytecode = True
        engine = self.engine
        engine.start()
        catch_files(engine.patches, self.overlay)
        catch_saving(engine.patches, self.overlay, engine.functions)
        read_no_weights(engine.patches)
        if 1 < self.ranks:
            pretend_ranks(engine.patches, self.ranks)
        self._follow_threads()
        self._follow_loaders()
        self._marks = Marks(torch)
        self._modules = Modules(torch, self._marks)
        self._modules.start()
        self.progress.start()

    def _follow_threads(self) -> None:
        """Modes belong to a thread; what a program starts is under them, too."""
        start = threading.Thread.start
        engine = self.engine

        def start_followed(thread: threading.Thread) -> None:
            run = thread.run

            def followed() -> None:
                with engine.dispatch, engine.functions:
                    run()

            thread.run = followed  # type: ignore[method-assign]
            start(thread)

        engine.patches.put(threading.Thread, "start", start_followed)

    def _follow_loaders(self) -> None:
        """Loaders run for real, but pin no memory, for which there is no device."""
        loader = torch.utils.data.DataLoader
        begin = loader.__iter__

        def begin_unpinned(self_: Any) -> Any:
            self_.pin_memory = False
            sampler = getattr(self_, "batch_sampler", None)
            self.progress.saw_batches(self_.batch_size or getattr(sampler, "batch_size", None))
            return begin(self_)

        self.engine.patches.put(loader, "__iter__", begin_unpinned)

    def stop(self, lower_bound: str | None) -> None:
        """The estimate ends in the middle of the program: nothing of it runs any more, so that no `finally` saves."""
        if os.getpid() != self._process or self._is_over:
            return
        self.lower_bound = lower_bound
        code = self._finish()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def _finish(self) -> int:
        self._is_over = True
        self.progress.stop()
        self._modules.stop()
        names = None
        with harmless("naming tensors"):
            places = _Places(self.engine.storages)
            names = census(torch, max_s=CENSUS_S, holders_s=HOLDERS_S, places=places)
        self.engine.stop()
        _end_children()
        estimate = {
            "version": 1,
            "program": self.program.name,
            "steps": self.progress.steps,
            "lower_bound": self.lower_bound,
            "notes": self.notes.as_list(),
            "would_write": list(self.overlay.written)[:MAX_WRITTEN],
        }
        snapshot: dict[str, Any] = {}
        self._marks.complete(snapshot)
        facts = facts_of(self.engine.device, self.progress.steps, names, estimate)
        facts["world_size"] = self.ranks if 1 < self.ranks else None
        handle, path = tempfile.mkstemp(suffix=".pickle", prefix="oomscope-requests-")
        try:
            with os.fdopen(handle, "wb") as file:
                write_requests(file, self.engine.storages, facts, snapshot.get("external_annotations", []))
            self.overlay.clean()
            return self._conclude(path, self)
        finally:
            with contextlib.suppress(OSError):
                os.remove(path)


def _end_children() -> None:
    """Workers end before the folder that they use is gone. A loader would take that for a failure, and raise."""
    children = multiprocessing.active_children()
    if children and hasattr(signal, "SIGCHLD"):
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for child in children:
        child.kill()
        child.join()


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


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""
