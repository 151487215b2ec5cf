"""The verdict at the end."""

from __future__ import annotations

from pathlib import Path

import oomscope
import pytest
from fake_torch import FakeTorch


def install(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program of this text where the package looks for it."""
    program = folder / "oomscope"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr("oomscope._verdict.find_program", lambda: program)


def test_it_is_what_the_report_begins_with(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    report = "echo file.pickle; echo; echo critical; echo Out of memory; echo; echo more"
    install(tmp_path, report, monkeypatch)
    torch.use_device()
    with oomscope.record(tmp_path / "out") as recording:
        torch.run_out()
    path = recording.files[0]
    assert capfd.readouterr().err.splitlines()[1:] == [
        "oomscope: critical",
        "oomscope: Out of memory",
        f"oomscope: more: oomscope report {path}",
    ]


def test_other_ranks_are_silent_unless_they_fail(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, "echo a; echo; echo verdict", monkeypatch)
    monkeypatch.setenv("RANK", "3")
    torch.use_device()
    with oomscope.record(tmp_path / "end"):
        pass
    assert "verdict" not in capfd.readouterr().err
    with oomscope.record(tmp_path / "oom"):
        torch.run_out()
    assert "verdict" in capfd.readouterr().err


@pytest.mark.parametrize("script", ["exit 3", "sleep 60", "kill -9 $$"])
def test_a_program_that_fails_or_hangs_says_nothing(
    script: str, torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, f"exec {script}" if "sleep" in script else script, monkeypatch)
    monkeypatch.setattr("oomscope._verdict.TIMEOUT_S", 0.2)
    torch.use_device()
    with oomscope.record(tmp_path / "out"):
        torch.run_out()


def test_no_program_is_no_error(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("oomscope._verdict.find_program", lambda: None)
    torch.use_device()
    with oomscope.record(tmp_path / "out"):
        torch.run_out()
    assert caplog.messages == []
