"""Files: whole or not there, never over another, bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PACKAGE
from oomscope._store import NoRoom, Store


def fill(size_bytes: int) -> Callable[[Any], None]:
    """Writes so many bytes, ten at a time."""

    def write(file: Any) -> None:
        for _ in range(size_bytes // 10):
            file.write(b"0123456789")

    return write


def test_no_file_is_ever_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.pickle").write_text("an earlier run's")
    store = Store(tmp_path, 8, 1000)
    assert [store.write("a.pickle", fill(10)).name for _ in range(2)] == ["a_2.pickle", "a_3.pickle"]
    assert (tmp_path / "a.pickle").read_text() == "an earlier run's"


def test_the_oldest_of_its_own_go_first(tmp_path: Path) -> None:
    (tmp_path / "0.pickle").touch()
    store = Store(tmp_path, 2, 1000)
    for name in "123":
        store.write(f"{name}.pickle", fill(10))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.pickle", "2.pickle", "3.pickle"]


def test_earlier_ones_go_once_a_newer_one_is_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, 8, 100)
    for name in "123":
        store.write(f"{name}.pickle", fill(40))
    assert [file.path.stem for file in store.files] == ["2", "3"]
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2", "3"]


def test_one_that_is_too_large_costs_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path, 8, 100)
    for name in "123456":
        store.write(f"{name}.pickle", fill(10))
    with pytest.raises(NoRoom, match="does not fit into max_bytes, 100 B$"):
        store.write("7.pickle", fill(200))
    assert sorted(path.stem for path in tmp_path.iterdir()) == list("123456")
    assert [file.path.stem for file in store.files] == list("123456")


@pytest.mark.parametrize(("max_files", "max_bytes"), [(2, 1000), (8, 20)])
def test_a_full_disk_costs_no_other(max_files: int, max_bytes: int, tmp_path: Path) -> None:
    store = Store(tmp_path, max_files, max_bytes)
    for name in "12":
        store.write(f"{name}.pickle", fill(10))

    def fail(file: Any) -> None:
        file.write(b"0123456789")
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        store.write("3.pickle", fail)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.pickle", "2.pickle"]


def test_a_file_that_is_kept_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, 2, 100)
    store.write("first.pickle", fill(40), is_kept=True)
    for name in "123":
        store.write(f"{name}.pickle", fill(10))
    assert [file.path.stem for file in store.files] == ["first", "3"]
    with pytest.raises(NoRoom, match="100 B, beside 40 B of kept"):
        store.write("large.pickle", fill(70))
    assert [file.path.stem for file in store.files] == ["first", "3"]


def test_nothing_is_written_beside_as_many_that_are_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, 1, 100)
    store.write("first.pickle", fill(10), is_kept=True)
    with pytest.raises(NoRoom, match="max_files is 1"):
        store.write("2.pickle", fill(10))
    assert [path.name for path in tmp_path.iterdir()] == ["first.pickle"]


def test_one_that_cannot_be_removed_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(tmp_path, 1, 1000)
    store.write("1.pickle", fill(10))

    def fail(path: Path) -> None:
        raise PermissionError(path.name)

    monkeypatch.setattr(store, "remove", fail)
    assert store.write("2.pickle", fill(10)).exists()
    assert caplog.messages == ["oomscope: removing an earlier snapshot failed: PermissionError: 1.pickle"]


def write_until_killed(directory: Path) -> subprocess.Popen[bytes]:
    """A process of rank 3 that is in the middle of writing."""
    program = (
        "import sys, time; from oomscope._store import Store\n"
        "def fill(file): file.write(bytes(40)); file._file.flush(); print('half', flush=True); time.sleep(60)\n"
        "Store(sys.argv[1], 8, 100).write('t_rank3_oom.pickle', fill)\n"
    )
    command = [sys.executable, "-c", program, str(directory)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert writer.stdout is not None and writer.stdout.readline() == b"half\n"
    return writer


def end(writer: subprocess.Popen[bytes]) -> None:
    with writer:
        writer.kill()


def test_what_a_killed_process_left_behind_is_removed(tmp_path: Path) -> None:
    end(write_until_killed(tmp_path))
    (left,) = tmp_path.iterdir()
    Store(tmp_path, 8, 100).prepare(33)
    assert left.exists()
    Store(tmp_path, 8, 100).prepare(3)
    assert not left.exists()


def test_what_another_process_writes_stays_and_counts(tmp_path: Path) -> None:
    writer = write_until_killed(tmp_path)
    store = Store(tmp_path, 8, 100)
    store.prepare(3)
    (partial,) = tmp_path.iterdir()
    with pytest.raises(NoRoom, match="beside 40 B of kept and unfinished files"):
        store.write("large.pickle", fill(70))
    for name in "123":
        store.write(f"{name}.pickle", fill(30))
    assert [file.path.stem for file in store.files] == ["2", "3"]
    end(writer)
    partial.unlink()
    store.write("large.pickle", fill(100))


def test_without_locks_nothing_is_taken_for_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", fail)
    store = Store(tmp_path, 8, 100)
    left = tmp_path / ".t_rank0_oom.pickle.0123abcd.partial"
    left.write_bytes(bytes(60))
    store.prepare(0)
    assert left.exists()
    assert store.write("1.pickle", fill(40)).exists()


def test_one_that_another_node_swept_is_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path, 8, 100)
    written = []

    def write(file: Any) -> None:
        fill(10)(file)
        written.append(file)
        if len(written) == 1:
            next(tmp_path.iterdir()).unlink()

    assert store.write("1.pickle", write).read_bytes() == b"0123456789"
    assert [path.name for path in tmp_path.iterdir()] == ["1.pickle"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(file: Any) -> None:
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Store(tmp_path, 8, 1000).write("a.pickle", fail)
    assert list(tmp_path.iterdir()) == []


def test_files_that_somebody_removed_are_gone(tmp_path: Path) -> None:
    store = Store(tmp_path, 1, 1000)
    store.write("1.pickle", fill(10)).unlink()
    assert store.write("2.pickle", fill(10)).exists()


def test_the_directory_is_where_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store("snapshots", 1, 1000)
    monkeypatch.chdir("/")
    assert store.write("1.pickle", fill(10)) == tmp_path / "snapshots" / "1.pickle"
