"""Files: whole or not there, never over another, bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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


def test_bytes_are_bounded_while_a_file_grows(tmp_path: Path) -> None:
    store = Store(tmp_path, 8, 100)
    for name in "123":
        store.write(f"{name}.pickle", fill(40))
    assert [file.path.stem for file in store.files] == ["2", "3"]
    with pytest.raises(NoRoom, match="100 B"):
        store.write("4.pickle", fill(200))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_kept_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, 2, 1000)
    store.write("first.pickle", fill(10), is_kept=True)
    for name in "123":
        store.write(f"{name}.pickle", fill(10))
    assert [file.path.stem for file in store.files] == ["first", "3"]
    with pytest.raises(NoRoom):
        Store(tmp_path, 1, 5).write("large.pickle", fill(10))


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
