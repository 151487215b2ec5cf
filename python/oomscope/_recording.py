"""`record`, and what it returns."""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._messages import harmless, say
from ._options import MAX_BYTES, MAX_ENTRIES, MAX_FILES, Options, read_bytes, read_choice, read_signal
from ._session import Session

if TYPE_CHECKING:
    from typing_extensions import Self

Batch = TypeVar("Batch")

_lock = threading.Lock()
_current: Session | None = None


def record(
    directory: str | os.PathLike[str] = "snapshots",
    *,
    oom: bool = True,
    signal: str | int | None = "SIGUSR2",
    after_steps: int | None = None,
    on_peak: int | str | None = None,
    at_end: bool | None = None,
    max_entries: int = MAX_ENTRIES,
    stacks: str = "all",
    context: str = "all",
    max_files: int = MAX_FILES,
    max_bytes: int | str = MAX_BYTES,
    verdict: bool = True,
    census: bool = True,
    ranks: bool = True,
    redact: bool = False,
    modules: bool = False,
) -> Recording:
    """Records memory snapshots into a directory, from the first use of a device until `stop` or the end of the process.

    A snapshot is written when memory runs out (`oom`), on a `signal`, after a number of steps (`after_steps`), when a step
    ends with a new maximum above `on_peak` bytes (or `"60GiB"`), and at the end: always (`at_end=True`), never (`False`), or
    if there would be none (`None`).

    `max_entries`, `stacks` ("all" or "python") and `context` are those of `torch.cuda.memory._record_memory_history`. Of the
    files of this run, at most `max_files` and `max_bytes` stay. `verdict` prints what `oomscope report` says at the end.
    `census` writes with each snapshot which tensors there are, and the names of parameters, gradients and states, `redact` hashes in
    their place. `ranks` writes
    one, too, when another rank of the job fails, or its launcher ends this one.

    `modules` writes which module made each allocation, forward and backward, which takes some microseconds for each call of a module.

    While a recording is under way, another one joins it, and its options count.
    """
    return _begin(
        lambda: Options(
            directory=os.fspath(directory),
            oom=oom,
            signal=read_signal(signal),
            after_steps=after_steps,
            on_peak_bytes=read_bytes("on_peak", on_peak, None),
            at_end=at_end,
            max_entries=max_entries,
            stacks=read_choice("stacks", stacks, ("all", "python")),
            context=read_choice("context", context, ("all", "alloc", "state")),
            max_files=max_files,
            max_bytes=read_bytes("max_bytes", max_bytes, MAX_BYTES) or MAX_BYTES,
            verdict=verdict,
            census=census,
            ranks=ranks,
            redact=redact,
            modules=modules,
        )
    )


def _begin(options: Any) -> Recording:
    global _current
    with harmless("recording"), _lock:
        if _current is not None and _current.can_be_joined:
            say(f"already recording into {_current.writer.store.directory}")
            return Recording(_current, is_owner=False)
        torch = _find_torch()
        if torch is not None:
            session = Session(torch, options())
            session.begin()
            _current = session
            return Recording(session, is_owner=True)
    return Recording(None, is_owner=False)


def _find_torch() -> Any | None:
    """torch, where it can be imported and is built for a device."""
    try:
        torch = importlib.import_module("torch")
        importlib.import_module("torch.cuda")
    except ImportError:
        return None
    return torch if torch.backends.cuda.is_built() else None


def _join() -> Recording:
    """The recording of this process: what a recording becomes when it is copied to another process."""
    session = _current if _current is not None and _current.can_be_joined else None
    return Recording(session, is_owner=False)


class Recording:
    """A recording that is under way, or nothing where there is no device. No method raises."""

    def __init__(self, session: Session | None, is_owner: bool) -> None:
        self._session = session
        self._is_owner = is_owner
        if session is not None:
            session.holders.add(self)

    @property
    def is_active(self) -> bool:
        """Whether this process records: from the first use of a device to the end."""
        return self._session is not None and self._session.is_active

    @property
    def files(self) -> list[Path]:
        """The snapshots that were written and are still there, the oldest first."""
        return [] if self._session is None else [file.path for file in self._session.writer.store.files]

    def step(self) -> None:
        """Says that a step of the training has ended. Without it, the optimizer's steps count."""
        if self._session is not None:
            with harmless("counting steps"):
                self._session.end_step()

    def steps(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, each of them a step: from before it is loaded until the next one is asked for."""
        session = self._session
        if session is None:
            yield from batches
            return
        with harmless("counting steps"):
            session.begin_step()
        try:
            for batch in batches:
                yield batch
                self.step()
        finally:
            session.marks.end_step()

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Names what the program does meanwhile: forward, backward, optimizer, eval, or anything else."""
        session = self._session
        if session is None or not session.is_active:
            yield
            return
        opened = session.marks.begin_phase(name)
        try:
            yield
        finally:
            session.marks.end_phase(opened)

    def snapshot(self, reason: str = "asked") -> Path | None:
        """Writes a snapshot now; `None` where nothing is recorded, or it could not be written."""
        return None if self._session is None else self._session.snapshot(reason)

    def stop(self) -> None:
        """Ends the recording. One that joined another leaves that to the other, unless nobody holds it any more, as after a
        cell of a notebook was run twice."""
        self._leave(is_last_enough=True)

    def _leave(self, is_last_enough: bool) -> None:
        session = self._session
        if session is not None:
            session.holders.discard(self)
            if self._is_owner or (is_last_enough and not session.holders):
                with harmless("ending the recording"):
                    session.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(is_last_enough=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _join, ()
