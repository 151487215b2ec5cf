"""What the tests share: a fake torch, and the state of a new process for each test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_torch import FakeRange, FakeTorch, install
from oomscope import _messages, _observer, _recording

PACKAGE = Path(__file__).parent.parent

RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No recording, no warnings yet, no rank and no settings, and no handler of the signal."""
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    # Without the settings of whoever runs the tests.
    monkeypatch.setenv("OOMSCOPE_CONFIG", "")
    FakeRange.log.clear()
    yield
    if _recording._current is not None:
        _recording._current.end()
    _recording._current = None
    signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    _observer._is_attached = False
    _messages._warned.clear()


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    """A torch without a device of its own."""
    fake = FakeTorch()
    for name in ("torch", "torch.cuda", "torch.optim.optimizer", "torch.distributed"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    install(fake)
    return fake


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs this Python with the package, and no torch, in a directory of its own."""

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", **more}
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    return run
