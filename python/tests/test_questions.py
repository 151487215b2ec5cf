"""What the program is asked, and what becomes of its answers: with a program that says what each test needs."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import oomscope
import pytest
from conftest import PACKAGE

COMPLAINT = "oomscope: warning: a.pickle: odd\noomscope: cannot read a.pickle: no room\n  hint: make some\n"


class Stub:
    """A program that writes what it was asked into a file, and answers as it was told."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "program"
        self._folder = folder
        self.file = folder / "a.pickle"
        self.file.touch()

    def answers(self, out: str = "{}", error: str = "", script: str = "", code: int = 0) -> None:
        (self._folder / "out").write_text(out, encoding="utf-8")
        (self._folder / "error").write_text(error, encoding="utf-8")
        folder = self._folder
        self.path.write_text(
            f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/asked\n{script}\n"
            f"cat {folder}/out\ncat {folder}/error >&2\nexit {code}\n"
        )
        self.path.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        """The arguments of the last question."""
        return (self._folder / "asked").read_text().splitlines()

    def open(self, *names: str | Path, timeout: float | None = None) -> oomscope.Snapshot:
        paths = list(names) or [self.file]
        return oomscope.open(paths[0] if len(paths) == 1 else paths, program=self.path, timeout=timeout)


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    stub = Stub(tmp_path)
    stub.answers()
    return stub


def test_options_are_those_of_the_program(stub: Stub) -> None:
    snapshot = stub.open()
    stub.answers("[]")
    assert snapshot.live(at="oom", filter="-kept size>1MB", device=-1, top=3) == []
    options = ["--at=oom", "--filter=-kept size>1MB", "--device=-1", "--top=3"]
    assert stub.asked == ["live", "--format", "json", *options, "--", str(stub.file)]
    snapshot.table("events", range="iteration:1", device=0).rows()
    options = ["--range=iteration:1", "--device=0"]
    assert stub.asked == ["export", "--format", "jsonl", "--table", "events", *options, "--", str(stub.file)]


def test_options_of_the_snapshot_are_those_of_every_question(stub: Stub, tmp_path: Path) -> None:
    common = [f"--rules={tmp_path / 'rules.toml'}", "--max-memory=8GiB"]
    for paths, command in ((stub.file, "report"), ([stub.file, stub.file], "ranks")):
        snapshot = oomscope.open(paths, program=stub.path, rules=tmp_path / "rules.toml", max_memory="8GiB")
        getattr(snapshot, command)()
        assert stub.asked[3:5] == common
        snapshot.table(snapshot.tables[0]).rows()
        assert stub.asked[5:7] == common


def test_names_are_names_whatever_they_look_like(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("--help", "$(touch made); touch made", "-"):
        Path(name).touch()
        stub.open(name).report()
        assert stub.asked[-2:] == ["--", os.path.join(".", name) if name == "-" else name]
    assert not Path("made").exists()


def test_the_verdict_is_the_first_finding_and_nothing_is_simulated_for_it(stub: Stub) -> None:
    stub.answers(json.dumps({"findings": [{"id": "leak"}, {"id": "other"}]}))
    assert stub.open().verdict(at="end") == {"id": "leak"}
    assert stub.asked[:5] == ["report", "--format", "json", "--no-remedies", "--at=end"]


def test_several_files_and_folders_are_a_job(stub: Stub, tmp_path: Path) -> None:
    job = stub.open(stub.file, tmp_path)
    assert job.tables == ("ranks", "iterations", "lines")
    job.ranks()
    assert stub.asked == ["ranks", "--format", "json", "--", str(stub.file), str(tmp_path)]
    assert stub.open(tmp_path).tables == job.tables
    for refused in (job.report, job.verdict, job.fixes, job.live, lambda: job.table("ranks", at="end")):
        with pytest.raises(oomscope.OomscopeError, match="hint: open one of its files"):
            refused()


def test_a_table_that_there_is_not_is_refused_with_those_that_are(stub: Stub) -> None:
    with pytest.raises(oomscope.OomscopeError, match="no table ranks\n.*events, allocations, blocks"):
        stub.open().table("ranks")


def test_an_error_is_the_programs_own_sentence_with_its_hint(stub: Stub) -> None:
    stub.answers(error=COMPLAINT, code=1)
    with pytest.raises(oomscope.OomscopeError) as caught:
        stub.open().fixes()
    assert str(caught.value) == "cannot read a.pickle: no room\n  hint: make some"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message, copy.hint) == ("cannot read a.pickle: no room", "make some")


def test_an_option_that_is_wrong_is_an_error_without_the_usage(stub: Stub) -> None:
    error = "error: invalid value 'x' for '--at <AT>':\n  no moment\n\nFor more information, try '--help'.\n"
    stub.answers(error=error, code=2)
    with pytest.raises(oomscope.OomscopeError, match=r"^invalid value 'x' for '--at <AT>': no moment$"):
        stub.open().live(at="x")


def test_a_program_that_ends_in_silence_is_an_error(stub: Stub) -> None:
    stub.answers(script="kill -KILL $$")
    with pytest.raises(oomscope.OomscopeError, match="ended by SIGKILL"):
        stub.open().report()
    stub.answers(code=7)
    with pytest.raises(oomscope.OomscopeError, match="exit code 7"):
        stub.open().report()


def test_a_program_that_cannot_be_run_is_an_error(stub: Stub, tmp_path: Path) -> None:
    stub.path.chmod(0o644)
    with pytest.raises(oomscope.OomscopeError, match="cannot run .*: Permission denied"):
        stub.open().report()
    with pytest.raises(oomscope.OomscopeError, match="cannot run .*: No such file"):
        oomscope.open(stub.file, program=tmp_path / "none").report()


def test_no_program_is_an_error_at_once(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oomscope._questions.find_program", lambda: None)
    with pytest.raises(oomscope.OomscopeError, match="not installed.*\n.*pip install oomscope"):
        oomscope.open(stub.file)


def test_a_file_that_is_not_there_is_an_error_at_once(stub: Stub) -> None:
    stub.answers(error=COMPLAINT, code=1)
    with pytest.raises(oomscope.OomscopeError, match="no room"):
        stub.open("none.pickle")
    with pytest.raises(oomscope.OomscopeError, match="no snapshot is named"):
        oomscope.open([], program=stub.path)
    assert stub.asked == ["stats", "--format", "json", "--", "none.pickle"]


def test_time_has_a_limit_where_the_user_asks_for_one(stub: Stub) -> None:
    stub.answers(script="exec sleep 60")
    with pytest.raises(oomscope.OomscopeError, match=r"oomscope stats took longer than 0\.2 s"):
        stub.open(timeout=0.2).stats()


def test_what_the_program_says_beside_an_answer_is_a_warning_where_it_was_asked(stub: Stub) -> None:
    stub.answers(error="oomscope: warning: a.pickle is damaged at byte 9\n")
    snapshot = stub.open()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        snapshot.report()
        # Once for a file, whatever is asked of it.
        snapshot.report()
        stub.open().table("events").rows()
    assert len(caught) == 2
    for warning in caught:
        assert warning.category is oomscope.OomscopeWarning
        assert str(warning.message) == "warning: a.pickle is damaged at byte 9"
        assert warning.filename == __file__


def test_a_job_with_files_that_cannot_be_read_has_an_answer_and_a_warning(stub: Stub, tmp_path: Path) -> None:
    stub.answers('{"files": []}', code=1)
    with pytest.warns(oomscope.OomscopeWarning, match="could not be read"):
        assert stub.open(tmp_path).ranks() == {"files": []}


def test_text_is_utf8_whatever_the_locale_is(stub: Stub) -> None:
    stub.answers('{"text": "größer ≈ 日本"}', error="oomscope: warning: größer\n")
    program = f"import oomscope; print(ascii(oomscope.open({str(stub.file)!r}, program={str(stub.path)!r}).report()))"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], env=environment, capture_output=True, check=True
    )
    assert done.stdout.strip() == ascii({"text": "größer ≈ 日本"}).encode()
    assert b"gr\\xf6\\xdfer" in done.stderr or "größer".encode() in done.stderr


def test_pythons_own_open_stays_what_it_is() -> None:
    # What `from oomscope import *` brings.
    assert "open" not in oomscope.__all__
    assert all(hasattr(oomscope, name) for name in oomscope.__all__)
