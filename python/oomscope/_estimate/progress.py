"""How far a program is, and where its estimate ends: after some steps, when time is up, or with the program."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import torch

from .._optimizer_clock import OptimizerClock
from .notes import is_own

# After so many backward passes without an optimizer, a program surely updates its parameters by itself, and each pass is a step.
MIN_PASSES = 8

# What asks torch for something is ended by then.
GRACE_S = 5.0


class Progress:
    """Counts the optimizer's steps, and calls `enough` where the next one begins."""

    def __init__(self, max_steps: int, max_s: float, enough: Callable[[str | None], None]) -> None:
        self.steps = 0
        # Samples in a batch of the loader that the first training pass is fed from; not known where there is none.
        self.batch: int | None = None
        self._last_batch: int | None = None
        self._has_trained = False
        self._passes = 0
        self._has_optimizer = False
        self._max_steps = max_steps
        self._end_s = time.monotonic() + max_s
        self._max_s = max_s
        self._enough = enough
        self._clock: OptimizerClock | None = None
        self._handle: Any = None
        self._backward: Any = None
        self._has_alarm = False

    def start(self) -> None:
        self._clock = OptimizerClock(self._count)
        self._handle = torch.nn.modules.module.register_module_forward_pre_hook(self._before)
        self._backward = torch.autograd.backward

        def backward(*args: Any, **kwargs: Any) -> None:
            self._passes += 1
            self._backward(*args, **kwargs)

        torch.autograd.backward = backward
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Ends what asks torch for nothing for long, such as a loader, where there are alarms and the program has none."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            self._has_alarm = True
            signal.signal(signal.SIGALRM, lambda *_: self.look_at_clock())
            signal.setitimer(signal.ITIMER_REAL, max(0.0, self._end_s - time.monotonic()) + GRACE_S)

    def saw_batches(self, size: int | None) -> None:
        """The program goes through batches of a size."""
        self._last_batch = size

    def stop(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._handle.remove()
            torch.autograd.backward = self._backward
            self._clock = None
        if self._has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _count(self) -> None:
        self.steps += 1
        # Of what follows a step the next forward pass is no part; a program without one is stopped a step later.
        if self._max_steps < self.steps:
            self._enough(None)

    def _before(self, module: Any, inputs: Any) -> None:
        if not self._has_trained and module.training and torch.is_grad_enabled():
            self._has_trained, self.batch = True, self._last_batch
        if self._max_steps <= self.steps and module.training and torch.is_grad_enabled():
            self._enough(None)
        elif max(MIN_PASSES, self._max_steps) <= self._passes and self._updates_by_itself():
            self.steps = self._passes
            self._enough(None)
        else:
            self.look_at_clock()

    def look_at_clock(self) -> None:
        """Ends what takes too long."""
        if self._end_s < time.monotonic():
            self._enough(f"the time of {self._max_s:.0f} s was up after {_counted(self.steps)}")

    def _updates_by_itself(self) -> bool:
        """Whether no optimizer steps, and none will."""
        if not self.steps and not self._has_optimizer:
            # Asking a thing for its class may run code of the program; its type is only looked at.
            found = (issubclass(type(one), torch.optim.Optimizer) for one in gc.get_objects())
            self._has_optimizer = any(found)
        return not self.steps and not self._has_optimizer


def _counted(steps: int) -> str:
    return f"{steps} step" if steps == 1 else f"{steps} steps"


def failed_line(error: BaseException) -> str:
    """The line of the program that an exception passed last."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        if is_own(trace.tb_frame):
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
