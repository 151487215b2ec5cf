"""The allocator's history: switched on for as long as a recording lasts, left alone where it is the program's own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import sys
from collections.abc import Iterator
from typing import Any

from ._messages import harmless
from ._options import Options

# What torch.cuda.memory._record_memory_history calls, in either of its forms.
_SWITCHES = ("_cuda_record_memory_history", "_cuda_record_memory_history_legacy")


def is_running(torch: Any) -> bool:
    """Whether the allocator keeps a history, whoever switched it on."""
    is_enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(is_enabled and is_enabled())


class History:
    """The history of this process's allocator."""

    def __init__(self, torch: Any, options: Options) -> None:
        self._torch = torch
        self._options = options
        self._watches: list[_Watch] = []
        self.is_ours = False
        self.settings: dict[str, Any] = {}

    def start(self) -> None:
        """Switches the history on, unless the program did so itself: then its settings stay, and so does what it has."""
        if is_running(self._torch):
            return
        wanted: dict[str, Any] = {
            "enabled": "all",
            "context": self._options.context,
            "stacks": self._options.stacks,
            "max_entries": self._options.max_entries,
            # Marks of other threads than the one that starts the recording.
            "global_record_annotations": True,
            # Which graph of compiled code an event belongs to.
            "compile_context": True,
            # Pinned memory of the host, as torch keeps it for copies.
            "record_pinned_host_memory": True,
        }
        record = self._torch.cuda.memory._record_memory_history
        known = inspect.signature(record).parameters
        self.settings = {name: value for name, value in wanted.items() if name in known}
        record(**self.settings)
        self.is_ours = True
        names = [name for name in _SWITCHES if hasattr(self._torch._C, name)]
        self._watches = [_Watch(self._torch._C, name, self._hand_over) for name in names]

    def stop(self) -> None:
        """Switches off what `start` switched on, unless the program has switched it since."""
        for watch in self._watches:
            watch.end()
        if self.is_ours:
            self.is_ours = False
            self._torch.cuda.memory._record_memory_history(enabled=None)

    def snapshot(self) -> dict[str, Any]:
        """What torch's own dump writes, with the program's own lines in compiled code where the program has torch keep them."""
        with _children_spared():
            snapshot: dict[str, Any] = self._torch.cuda.memory._snapshot()
        augment = getattr(self._torch.cuda.memory, "_augment_memory_snapshot_stack_traces", None)
        # They are source text.
        if augment is not None and _has_lines_of_graphs() and not self._options.redact:
            with harmless("adding lines of the program to compiled code"):
                augment(snapshot)
        return snapshot

    def _hand_over(self) -> None:
        """The history is the program's own from now on, with settings that are not known."""
        self.is_ours = False
        self.settings = {}


def _has_lines_of_graphs() -> bool:
    """Whether torch keeps lines of the program for a compiled graph: to look for them in all stacks takes seconds."""
    traceback = sys.modules.get("torch.fx.traceback")
    return bool(getattr(traceback, "_FX_METADATA_REGISTRY", None))


@contextlib.contextmanager
def _children_spared() -> Iterator[None]:
    """torch asks programs that it starts for names of C++ frames, and fails ever after when one is gone. A launcher sends SIGTERM to
    them, too; processes that are started while it is blocked do not hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Watch:
    """Tells when the program calls a function of torch, which has no other way to find out who switched the history last."""

    def __init__(self, owner: Any, name: str, tell: Any) -> None:
        self._owner = owner
        self._name = name
        self._function = function = getattr(owner, name)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            tell()
            return result

        self._call = call
        setattr(owner, name, call)

    def end(self) -> None:
        """Puts the function back, unless somebody else has replaced it since."""
        if getattr(self._owner, self._name) is self._call:
            setattr(self._owner, self._name, self._function)
