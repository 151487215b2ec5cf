"""The verdict at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oomscope
import pytest
from fake_torch import FakeTorch


def install(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program of this text where the package looks for it."""
    program = folder / "oomscope"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr("oomscope._verdict.find_program", lambda: program)


def report(**more: Any) -> dict[str, Any]:
    """What `oomscope report --format json` writes, as far as it is read."""
    verdict = {"id": "leak", "severity": "critical", "title": "Out of memory", "why": "It is kept."}
    return {
        "line": {"file": "/me/train.py", "line": 9, "name": "main"},
        "fix": {"text": "Detach it:", "code": "a = 1\nb = 2", "outcome": None},
        **{key: more.pop(key) for key in ("line", "fix") if key in more},
        "findings": [{**verdict, **more}],
    }


def says(report: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program that writes this report where the package looks for it."""
    (folder / "report.json").write_text(json.dumps(report))
    script = f'test "$*" = "report --format json $4" && test -s "$4" && cat {folder}/report.json'
    install(folder, script, monkeypatch)


def printed(directory: Path, capfd: pytest.CaptureFixture[str], torch: FakeTorch) -> list[str]:
    """What is printed below a failed request."""
    torch.use_device()
    with oomscope.record(directory) as recording:
        torch.run_out()
    lines = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("oomscope: wrote ")
    assert lines[-1] == f"oomscope: more: oomscope report {recording.files[0]}"
    return [line[len("oomscope: ") :] for line in lines[1:-1]]


def test_it_is_the_verdict_its_line_why_and_the_first_fix(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says(report(), tmp_path, monkeypatch)
    assert printed(tmp_path / "out", capfd, torch) == [
        "critical · leak",
        "Out of memory",
        "line: /me/train.py:9 main",
        "why: It is kept.",
        "what to change: Detach it:",
        "    a = 1",
        "    b = 2",
    ]


def test_parts_that_the_report_has_not_are_left_out(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says(report(why=None, fix=None, line=None), tmp_path, monkeypatch)
    assert printed(tmp_path / "out", capfd, torch) == ["critical · leak", "Out of memory"]


def test_the_fix_has_its_own_simulation_beside_it(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fix = {"text": "Half of it:", "code": "a", "outcome": "would still lack 1 GiB"}
    says(report(fix=fix), tmp_path, monkeypatch)
    assert printed(tmp_path / "out", capfd, torch)[-3:] == [
        "what to change: Half of it:",
        "    a",
        "simulated: would still lack 1 GiB",
    ]


def test_long_sentences_are_wrapped(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says(report(why="word " * 30), tmp_path, monkeypatch)
    found = printed(tmp_path / "out", capfd, torch)
    assert found[3:5] == ["why: " + "word " * 18 + "word", "  " + "word " * 10 + "word"]


def test_other_ranks_are_silent_unless_they_fail(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    says(report(id="none", severity="info", title="All is well"), tmp_path, monkeypatch)
    torch.use_device()
    with oomscope.record(tmp_path / "0"):
        pass
    # Where nothing failed, there is nothing to change.
    assert [line.partition(": ")[2] for line in capfd.readouterr().err.splitlines()][1:-1] == [
        "nothing failed here",
        "All is well",
    ]
    monkeypatch.setenv("RANK", "3")
    with oomscope.record(tmp_path / "end"):
        pass
    assert "All is well" not in capfd.readouterr().err
    with oomscope.record(tmp_path / "oom"):
        torch.run_out()
    assert "All is well" in capfd.readouterr().err


@pytest.mark.parametrize("script", ["exit 3", "sleep 60", "kill -9 $$", "echo {}"])
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


def test_settings_that_cannot_be_read_do_not_keep_the_verdict(
    torch: FakeTorch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.json").write_text(json.dumps(report()))
    # As the program does with settings that it cannot read.
    script = f'test "${{OOMSCOPE_CONFIG-unset}}" = "" && cat {tmp_path}/report.json'
    install(tmp_path, script, monkeypatch)
    monkeypatch.setenv("OOMSCOPE_CONFIG", str(tmp_path / "wrong.toml"))
    assert printed(tmp_path / "out", capfd, torch)[0] == "critical · leak"
