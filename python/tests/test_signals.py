"""A signal asks for a snapshot and never ends the program, from the beginning to the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE
from fake_torch import FakeTorch
from test_recording import names, record


class Handler:
    """A handler of the program, which may go on to the one that it found."""

    def __init__(self, number: int = signal.SIGUSR2, goes_on: bool = False) -> None:
        self.calls = 0
        self._goes_on = goes_on
        self._found: Any = signal.signal(number, self)

    def __call__(self, number: int, frame: Any) -> None:
        self.calls += 1
        assert self.calls < 10
        if self._goes_on:
            self._found(number, frame)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """All handlers as they were."""
    numbers = (signal.SIGUSR1, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before):
        signal.signal(number, handler)


def ask(number: int = signal.SIGUSR2) -> None:
    signal.raise_signal(number)


def installed() -> Any:
    return signal.getsignal(signal.SIGUSR2)


def in_thread(function: Any) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_it_asks_and_goes_on_to_the_programs_own(torch: FakeTorch, tmp_path: Path) -> None:
    own = Handler(signal.SIGUSR1)
    torch.use_device()
    with record(tmp_path, signal="USR1"):
        ask(signal.SIGUSR1)
        assert names(tmp_path) == ["rank0_signal.pickle"]
    assert own.calls == 1
    assert signal.getsignal(signal.SIGUSR1) is own


def test_before_a_device_is_in_use_it_says_so(
    torch: FakeTorch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record(tmp_path):
        ask()
        assert capsys.readouterr().err == "oomscope: nothing to write yet: the program has used no device\n"
        torch.use_device()
        ask()
        assert names(tmp_path) == ["rank0_signal.pickle"]


def test_any_thread_may_be_the_first_to_use_a_device(torch: FakeTorch, tmp_path: Path) -> None:
    with record(tmp_path):
        in_thread(torch.use_device)
        ask()
    assert names(tmp_path) == ["rank0_signal.pickle"]


def test_after_the_end_it_is_ignored(torch: FakeTorch, tmp_path: Path) -> None:
    for is_used in (False, True):
        recording = record(tmp_path, at_end=False)
        if is_used:
            torch.use_device()
        recording.stop()
        ask()
    assert list(tmp_path.iterdir()) == []


def test_a_recording_that_another_thread_ends_leaves_it_ignored(torch: FakeTorch, tmp_path: Path) -> None:
    own = Handler()
    torch.use_device()
    recording = record(tmp_path, at_end=False)
    in_thread(recording.stop)
    ask()
    assert own.calls == 1
    assert list(tmp_path.iterdir()) == []


def test_what_was_ignored_is_ignored_again(torch: FakeTorch, tmp_path: Path) -> None:
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    record(tmp_path).stop()
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_IGN


def test_another_signal_ends_a_program_that_has_no_handler(torch: FakeTorch, tmp_path: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.use_device()
    with record(tmp_path, signal="SIGTERM"):
        child = os.fork()
        if child == 0:
            ask(signal.SIGTERM)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_handler_that_is_installed_before_the_device_is_used_runs_after_the_snapshot(
    goes_on: bool, torch: FakeTorch, tmp_path: Path
) -> None:
    first = Handler()
    with record(tmp_path):
        second = Handler(goes_on=goes_on)
        torch.use_device()
        ask()
        assert (first.calls, second.calls) == (int(goes_on), 1)
        assert names(tmp_path) == ["rank0_signal.pickle"]
    assert installed() is second
    ask()
    assert (first.calls, second.calls) == (2 * int(goes_on), 2)


def test_a_handler_that_is_installed_later_is_left_alone(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path):
        own = Handler(goes_on=True)
        ask()
        assert names(tmp_path) == ["rank0_signal.pickle"]
    assert installed() is own
    ask()
    assert own.calls == 2


def test_a_recording_within_another_does_not_end_it(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path) as recording:
        with record(tmp_path):
            pass
        ask()
        assert len(recording.files) == 1
    with record(tmp_path) as recording:
        ask()
        assert len(recording.files) == 1
    ask()


@pytest.mark.parametrize("is_used", [False, True])
def test_forked_processes_live_on(is_used: bool, torch: FakeTorch, tmp_path: Path) -> None:
    if is_used:
        torch.use_device()
    with record(tmp_path, at_end=False):
        child = os.fork()
        if child == 0:
            ask()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_that_uses_a_device_first_is_asked_itself(torch: FakeTorch, tmp_path: Path) -> None:
    with record(tmp_path, at_end=False):
        child = os.fork()
        if child == 0:
            torch.use_device()
            ask()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert names(tmp_path) == ["rank0_signal.pickle"]


def test_outside_of_the_main_thread_there_is_a_warning(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    torch.use_device()
    in_thread(lambda: record(tmp_path / "1", signal=None).stop())
    assert caplog.messages == []
    in_thread(lambda: record(tmp_path / "2").stop())
    assert caplog.messages == [
        "oomscope: SIGUSR2 writes no snapshot: record() was not called in the main thread"
    ]
    assert names(tmp_path / "2") == ["rank0_end.pickle"]
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL


@pytest.mark.parametrize("ends", ["pass", "recording.stop()"])
def test_it_is_ignored_until_the_process_is_gone(ends: str, tmp_path: Path) -> None:
    class_of_late = "class Late:\n    def __del__(self): os.kill(os.getpid(), signal.SIGUSR2)\n"
    program = (
        "import fake_torch; fake_torch.install(fake_torch.FakeTorch())\n"
        "import builtins, os, signal, torch, oomscope\n"
        f"{class_of_late}"
        "recording = oomscope.record('out', verdict=False)\n"
        "torch.use_device()\n"
        f"{ends}\n"
        # Gone when Python has taken its handlers away.
        "builtins.late = Late()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(PACKAGE / "tests")])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, names(tmp_path / "out")) == (0, ["rank0_end.pickle"]), done.stderr
