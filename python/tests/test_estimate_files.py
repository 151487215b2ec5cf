"""What a program writes while it is estimated is kept apart, and read back."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from oomscope._estimate.file_calls import catch_files
from oomscope._estimate.gpus import find_gpu
from oomscope._estimate.overlay import Overlay
from oomscope._estimate.patches import Patches


@pytest.fixture
def overlay() -> Iterator[Overlay]:
    """An overlay that is in force."""
    patches, overlay = Patches(), Overlay()
    catch_files(patches, overlay)
    try:
        yield overlay
    finally:
        patches.restore()
        overlay.clean()


def on_disk(folder: Path) -> dict[str, str]:
    """What a folder really holds, asked of another program."""
    listing = os.popen(f"cd '{folder}' && find . -type f -exec sh -c 'echo {{}}; cat {{}}; echo' \\;").read()
    lines = listing.splitlines()
    return dict(zip(lines[::2], lines[1::2]))


def test_a_file_is_not_replaced_and_is_read_back(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"printf old > '{tmp_path}/model.pt'"):
        pass
    (tmp_path / "model.pt").write_text("new")
    assert (tmp_path / "model.pt").read_text() == "new"
    assert on_disk(tmp_path) == {"./model.pt": "old"}
    assert list(overlay.written) == [str(tmp_path / "model.pt")]


def test_what_is_appended_follows_what_was_there(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"printf 'one ' > '{tmp_path}/log.txt'"):
        pass
    with open(tmp_path / "log.txt", "a") as file:
        file.write("two")
    with open(tmp_path / "log.txt", "r+") as file:
        assert file.read() == "one two"
    assert on_disk(tmp_path) == {"./log.txt": "one "}


def test_folders_are_made_listed_and_removed_apart(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"mkdir '{tmp_path}/old' && printf kept > '{tmp_path}/old/file'"):
        pass
    os.makedirs(tmp_path / "new" / "deep")
    (tmp_path / "new" / "deep" / "file").write_text("text")
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]
    assert [entry.name for entry in os.scandir(tmp_path / "new" / "deep") if entry.is_file()] == ["file"]
    shutil.rmtree(tmp_path / "old")
    assert not (tmp_path / "old").exists()
    assert sorted(os.listdir(tmp_path)) == ["new"]
    with pytest.raises(FileNotFoundError):
        (tmp_path / "old" / "file").read_text()
    shutil.rmtree(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    assert on_disk(tmp_path) == {"./old/file": "kept"}


def test_a_folder_that_was_removed_can_be_made_again(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"mkdir '{tmp_path}/out' && printf old > '{tmp_path}/out/file'"):
        pass
    shutil.rmtree(tmp_path / "out")
    os.makedirs(tmp_path / "out", exist_ok=False)
    assert os.listdir(tmp_path / "out") == []
    assert not (tmp_path / "out" / "file").exists()
    assert on_disk(tmp_path) == {"./out/file": "old"}


def test_checkpoints_rotate_apart(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"printf 1 > '{tmp_path}/a' && printf 2 > '{tmp_path}/b'"):
        pass
    os.replace(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "1"
    assert not (tmp_path / "a").exists()
    os.remove(tmp_path / "b")
    assert os.listdir(tmp_path) == []
    assert on_disk(tmp_path) == {"./a": "1", "./b": "2"}


def test_a_write_fails_where_the_folder_is_missing(tmp_path: Path, overlay: Overlay) -> None:
    with pytest.raises(FileNotFoundError):
        (tmp_path / "missing" / "file").write_text("text")
    with pytest.raises(FileExistsError):
        os.mkdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        os.remove(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        (tmp_path / "none").open("r+").close()


def test_temporary_files_work_and_go(overlay: Overlay) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(b"bytes")
        assert path.read_bytes() == b"bytes" and path.stat().st_size == 5
        with tempfile.NamedTemporaryFile("w", dir=folder) as file:
            file.write("text")
    assert not Path(folder).exists()


def test_links_are_copies(tmp_path: Path, overlay: Overlay) -> None:
    (tmp_path / "one").write_text("1")
    os.symlink("one", tmp_path / "latest")
    assert (tmp_path / "latest").read_text() == "1"
    assert on_disk(tmp_path) == {}


def test_devices_are_known_by_name_and_by_size() -> None:
    assert find_gpu("H100-80").total_bytes == find_gpu("h100").total_bytes
    assert find_gpu("RTX4090").capability == (8, 9)
    assert find_gpu("80GiB").total_bytes == 80 << 30
    with pytest.raises(ValueError, match="no size such as 80GiB, nor one of"):
        find_gpu("abacus")


def test_a_folder_that_was_made_can_be_worked_in(tmp_path: Path, overlay: Overlay) -> None:
    with os.popen(f"mkdir '{tmp_path}/old' && printf kept > '{tmp_path}/old/file'"):
        pass
    before = os.getcwd()
    try:
        os.makedirs(tmp_path / "run")
        os.chdir(tmp_path / "run")
        Path("log").write_text("text")
        assert (tmp_path / "run" / "log").read_text() == "text"
        (tmp_path / "old" / "new").write_text("text")
        os.chdir(tmp_path / "old")
        assert (Path("file").read_text(), Path("new").read_text()) == ("kept", "text")
    finally:
        os.chdir(before)
    assert os.statvfs(tmp_path / "run").f_namemax
    assert on_disk(tmp_path) == {"./old/file": "kept"}
