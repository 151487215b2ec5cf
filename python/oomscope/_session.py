"""The recording of a process: from the first use of a device to the end, whoever asked for it.

It belongs to the process that first uses the device. In children that were forked later, such as the workers of a
DataLoader, nothing is written.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from ._history import History
from ._marks import Marks
from ._messages import harmless, say
from ._modules import Modules
from ._notebook import Notebook
from ._observer import forget, listen
from ._optimizer_clock import OptimizerClock
from ._options import Options
from ._peers import Peers
from ._rank import find_peers, find_rank
from ._redaction import Redaction
from ._signals import SignalTrigger
from ._triggers import Triggers
from ._verdict import print_verdict
from ._writer import Writer


class Session:
    """A recording that is waiting for a device, under way, or over."""

    def __init__(self, torch: Any, options: Options) -> None:
        # One for all that is written, so that a name is the same in metadata and in the census.
        redaction = Redaction() if options.redact else None
        self.marks = Marks(torch, redaction)
        self.history = History(torch, options)
        self.writer = Writer(torch, self.history, self.marks, options, redaction)
        self.triggers = Triggers(torch, options, self.writer)
        # Whoever was given this recording and has not stopped it.
        self.holders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._torch = torch
        self._options = options
        self._process: int | None = None
        self._is_over = False
        self._lock = threading.Lock()
        self._clock: OptimizerClock | None = None
        self._signal: SignalTrigger | None = None
        self._modules = Modules(torch, self.marks) if options.modules else None
        self._notebook = Notebook(lambda: self.triggers.last_oom, print_verdict)
        self._has_met = False
        self._counted = 0
        self._said: int | None = None

    @property
    def is_active(self) -> bool:
        """Whether this process records."""
        return self._process == os.getpid() and not self._is_over

    @property
    def can_be_joined(self) -> bool:
        """Whether this process records, or will once it uses a device."""
        return not self._is_over and self._process in (None, os.getpid())

    def begin(self) -> None:
        """Starts now if a device is in use, else when one is: torch keeps calls for then. Until then nothing of torch is
        touched, but the signal no longer ends the program."""
        if self._options.signal is not None:
            with harmless("waiting for a signal"):
                self._signal = SignalTrigger(self._options.signal, self._on_signal)
                self._signal.install()
        if self._options.verdict:
            with harmless("listening to the notebook"):
                self._notebook.start()
        self._torch.cuda._lazy_call(self._start)

    def _start(self) -> None:
        if self._process is not None or self._is_over:
            return
        self._process = os.getpid()
        with harmless("preparing the directory"):
            self.writer.store.prepare(find_rank()[0])
        with harmless("starting to record"):
            self.history.start()
        self._listen()
        _at_exit(self.end)
        self._meet_peers()
        if self._said is not None:
            self.marks.begin_step(self._said)

    def _meet_peers(self) -> None:
        """Listens to the other ranks, once it is known that there are some."""
        if self._has_met or not self._options.ranks:
            return
        with harmless("meeting the other ranks"):
            peers = find_peers()
            self._has_met = peers is not None
            if peers is not None:
                self.triggers.peers = Peers(self.writer.store.directory, *peers, self._on_peer)

    def _listen(self) -> None:
        """Asks to be told of what may be an occasion to write."""
        if self._options.oom:
            with harmless("waiting for failed requests"):
                listen(self._torch, self._on_oom)
        with harmless("counting steps"):
            self._clock = OptimizerClock(self._count)
        if self._modules is not None:
            with harmless("naming modules"):
                self._modules.start()
        if self._signal is not None:
            with harmless("waiting for a signal"):
                self._signal.come_first()

    def end(self) -> None:
        """Writes what is still to be written, and puts everything back."""
        with self._lock:
            if self._is_over:
                return
            was_active = self.is_active
            self._is_over = True
        if was_active:
            forget()
            self.marks.end_step()
            with harmless("writing the last snapshot"):
                self.triggers.on_end(self.step)
            self._part_from_peers()
        self._let_go()
        atexit.unregister(self.end)
        if was_active:
            with harmless("stopping the recording"):
                self.history.stop()
            self._conclude()
        with harmless("leaving the notebook"):
            self._notebook.stop()

    def _part_from_peers(self) -> None:
        peers = self.triggers.peers
        if peers is not None:
            with harmless("parting from the other ranks"):
                # Set for an exception that nobody caught, before Python's exit handlers run.
                if getattr(sys, "last_type", None) is not None:
                    peers.tell_if_first()
                peers.end()

    def _let_go(self) -> None:
        with harmless("naming modules"):
            if self._modules is not None:
                self._modules.stop()
        with harmless("counting steps"):
            if self._clock is not None:
                self._clock.stop()
        with harmless("restoring the handler of a signal"):
            if self._signal is not None:
                self._signal.restore()

    def _conclude(self) -> None:
        """The verdict of the last failed request, and of rank 0 else that of the last file."""
        if not self._options.verdict:
            return
        files = self.writer.store.files
        path = self.triggers.last_oom
        if path is None and files and find_rank()[0] == 0:
            path = files[-1].path
        if path is not None and not self._notebook.is_told(path):
            with harmless("asking for the verdict"):
                print_verdict(path)

    @property
    def step(self) -> int | None:
        """How many steps have ended: as the program says, else by its optimizer."""
        return self._said if self._said is not None else self._counted or None

    def begin_step(self) -> None:
        """The program says that its next step begins."""
        self._said = self._said or 0
        if self.is_active:
            self.marks.begin_step(self._said)

    def end_step(self) -> None:
        """The program says that a step has ended, and the next one begins."""
        self._said = (self._said or 0) + 1
        if self.is_active:
            with harmless("writing a snapshot after a step"):
                self.triggers.on_step(self._said)
            self.marks.begin_step(self._said)

    def snapshot(self, reason: str) -> Path | None:
        """Writes a snapshot now."""
        path = None
        if self.is_active:
            with harmless("writing a snapshot"):
                path = self.writer.write(reason, self.step)
        return path

    def _count(self) -> None:
        self._counted += 1
        self._meet_peers()
        if self.is_active and self._said is None:
            with harmless("writing a snapshot after a step"):
                self.triggers.on_step(self._counted)

    def _on_oom(self, device: int, requested: int, total: int, free: int) -> None:
        if self.is_active:
            self.triggers.on_oom(self.step, device, requested, total, free)

    def _on_peer(self, rank: int | None) -> None:
        if self.is_active:
            self.triggers.on_peer(self.step, rank)
        else:
            # The last file is whole before the process ends.
            with self.writer.lock:
                pass

    def _on_signal(self) -> None:
        if self.is_active:
            self.snapshot("signal")
        elif self.can_be_joined:
            say("nothing to write yet: the program has used no device")


def _at_exit(end: Any) -> None:
    """Calls `end` when the process does. Children of multiprocessing leave without Python's own exit handlers."""
    atexit.register(end)
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, end, exitpriority=100)
