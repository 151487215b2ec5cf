"""The other ranks of a job write a file when one fails, before their launcher ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE
from fake_torch import FakeTorch
from oomscope import _peers
from oomscope._failures import Failures
from test_recording import facts, names, record

WAIT_S = 20.0


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rank 1 of a job of two, and SIGTERM as it was."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(_peers, "POLL_S", 0.01)
    before = signal.getsignal(signal.SIGTERM)
    yield
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.set_wakeup_fd(-1) == -1


def written(directory: Path) -> list[str]:
    """The snapshots, once there are some."""
    until = time.monotonic() + WAIT_S
    while True:
        found = [name for name in names(directory) if name.endswith(".pickle")]
        if found or until < time.monotonic():
            return found
        time.sleep(0.01)


def test_a_rank_writes_when_another_one_fails(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    with record(tmp_path):
        Failures(tmp_path, 2).tell(0)
        assert written(tmp_path) == ["rank1_other-rank.pickle"]
    (path,) = tmp_path.glob("*.pickle")
    assert (facts(path)["reason"], facts(path)["failed_rank"]) == ("other-rank", 0)


def test_the_rank_that_fails_says_so_and_writes_its_own_file_alone(torch: FakeTorch, tmp_path: Path) -> None:
    torch.use_device()
    others = Failures(tmp_path, 2)
    with record(tmp_path):
        torch.run_out()
        assert others.hear() == 1
        time.sleep(0.1)
        assert written(tmp_path) == ["rank1_oom.pickle"]
        # It has written a moment ago, and would say the same.
        Failures(tmp_path, 2).tell(0)
        time.sleep(0.1)
        assert written(tmp_path) == ["rank1_oom.pickle"]


def test_what_jobs_before_have_told_is_not_heard(torch: FakeTorch, tmp_path: Path) -> None:
    Failures(tmp_path, 2).tell(0)
    old = tmp_path / ".failed_0"
    old.touch()
    os.utime(old, (0, 0))
    torch.use_device()
    with record(tmp_path, at_end=False):
        # Of another job in the same directory.
        Failures(tmp_path, 3).tell(0)
        time.sleep(0.1)
    assert [path for path in tmp_path.iterdir() if path.suffix == ".pickle"] == []
    assert not old.exists()


@pytest.mark.parametrize(
    ("ranks", "rank", "world"), [(False, "1", "2"), (True, "1", "1"), (True, "1", ""), (True, "1", "65")]
)
def test_nobody_listens_without_others_or_among_too_many(
    ranks: bool, rank: str, world: str, torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", world)
    torch.use_device()
    with record(tmp_path, ranks=ranks, at_end=False):
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        Failures(tmp_path, int(world or 2)).tell(0)
        time.sleep(0.1)
    assert not list(tmp_path.glob("*.pickle"))


def test_tasks_of_a_scheduler_are_no_ranks_of_a_job(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    torch.use_device()
    with record(tmp_path, at_end=False):
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_handler_of_the_program_stays_and_decides(torch: FakeTorch, tmp_path: Path) -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: calls.append(number))
    try:
        torch.use_device()
        with record(tmp_path):
            os.kill(os.getpid(), signal.SIGTERM)
            assert written(tmp_path) == ["rank1_terminated.pickle"]
        assert calls == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_cannot_be_told_harms_nobody(
    torch: FakeTorch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Failures(tmp_path, 2)._path.mkdir()
    torch.use_device()
    with record(tmp_path):
        torch.run_out()
    assert "rank1_oom.pickle" in names(tmp_path)
    assert "telling other ranks of a failure failed: IsADirectoryError" in caplog.text


PROGRAM = """
import fake_torch; fake_torch.install(fake_torch.FakeTorch())
import ctypes, os, signal, sys, time, torch, oomscope
recording = oomscope.record('out', verdict=False)
torch.use_device()
{before}
print('ready', flush=True)
{waits}
"""
# The second lock never comes back, and is not interrupted by signals, as a collective that waits for a dead rank.
WAITS_IN_C = "\n".join(
    ["libc = ctypes.CDLL(None)", "lock = ctypes.create_string_buffer(64)"]
    + ["libc.pthread_mutex_lock(lock)"] * 2
)


def started(directory: Path, waits: str, before: str = "") -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(PACKAGE / "tests")])}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(before=before, waits=waits)],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


@pytest.mark.parametrize(
    "waits", [WAITS_IN_C, "time.sleep(60)", "while True: pass"], ids=["c", "sleep", "busy"]
)
def test_sigterm_ends_a_rank_as_ever_once_it_has_written(waits: str, tmp_path: Path) -> None:
    program = started(tmp_path, waits)
    program.terminate()
    assert program.wait(WAIT_S) == -signal.SIGTERM
    assert written(tmp_path / "out") == ["rank1_terminated.pickle"]


FORKS = """
child = os.fork()
if child == 0:
    time.sleep(60)
os.kill(child, signal.SIGTERM)
assert os.waitpid(child, 0)[1] == signal.SIGTERM
"""


def test_a_forked_process_ends_at_once_and_alone(tmp_path: Path) -> None:
    program = started(tmp_path, "time.sleep(0.5)", FORKS)
    assert program.wait(WAIT_S) == 0
    assert written(tmp_path / "out") == ["rank1_end.pickle"]


def test_who_takes_the_place_of_the_pipe_loses_nothing(tmp_path: Path) -> None:
    program = started(tmp_path, "time.sleep(60)", "signal.set_wakeup_fd(-1)")
    program.terminate()
    assert program.wait(WAIT_S) == -signal.SIGTERM
    assert written(tmp_path / "out") == ["rank1_terminated.pickle"]


def test_what_a_snapshot_starts_does_not_hear_sigterm(torch: FakeTorch, tmp_path: Path) -> None:
    def blocked() -> set[int]:
        return signal.pthread_sigmask(signal.SIG_BLOCK, ())

    seen: list[bool] = []
    torch.use_device()
    snapshot = torch.cuda.memory._snapshot

    def look() -> Any:
        seen.append(signal.SIGTERM in blocked())
        return snapshot()

    torch.cuda.memory._snapshot = look
    with record(tmp_path) as recording:
        recording.snapshot()
        assert signal.SIGTERM not in blocked()
    assert seen == [True]
