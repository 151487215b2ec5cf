"""`python -m oomscope doctor`: what it says of torch, and what it counts as whose time."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from conftest import RunPython

TESTS = Path(__file__).parent

# A torch that takes so long to import, and again in its first snapshot. It may have a device.
IMPORT_S = 0.7
TORCH = f"""
import time
time.sleep({IMPORT_S})
from types import SimpleNamespace
from fake_torch import FakeTorch, install
torch = FakeTorch()
torch.cuda.is_available = lambda: DEVICE
torch.cuda.init = torch.use_device
torch.empty = lambda *_, **__: None
snapshot, left = torch.cuda.memory._snapshot, [{IMPORT_S}]
def imports():
    # As torch does for the first stack that it names.
    if torch.history is not None:
        time.sleep(left.pop() if left else 0)
    return snapshot()
torch.cuda.memory._snapshot = imports
install(torch)
"""


@pytest.fixture
def doctor(run_python: RunPython, tmp_path: Path) -> dict[str, list[str]]:
    """What is said below each name."""
    return ask(run_python, tmp_path, TORCH.replace("DEVICE", "True"))


def ask(run_python: RunPython, folder: Path, torch: str, *options: str) -> dict[str, list[str]]:
    """Runs it with this torch."""
    (folder / "torch.py").write_text(torch)
    path = os.pathsep.join([str(folder), str(TESTS.parent), str(TESTS)])
    done = run_python("-m", "oomscope", "doctor", *options, PYTHONPATH=path)
    assert done.stderr == ""
    lines: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        lines.setdefault(line[:12].strip(), []).append(line[12:])
    return lines


def test_imports_have_a_line_of_their_own(doctor: dict[str, list[str]]) -> None:
    (line,) = doctor["import"]
    found = re.fullmatch(r"torch (\d+\.\d) s, oomscope (\d+\.\d\d) s", line)
    assert found is not None, line
    assert IMPORT_S - 0.1 <= float(found[1])


def test_no_other_line_counts_them(doctor: dict[str, list[str]]) -> None:
    imports, *others = doctor["cost"]
    assert imports.endswith("what the first snapshot of a process imports")
    assert IMPORT_S - 0.1 <= float(imports.split()[0]) < 2 * IMPORT_S
    times = [found for line in others for found in re.findall(r"(\d+\.\d+) s\b", line)]
    # Symbols, and a snapshot with either kind of stacks.
    assert len(times) == 3
    assert all(float(time_s) < IMPORT_S for time_s in times)


def test_the_package_is_told_apart_from_what_torch_takes(doctor: dict[str, list[str]]) -> None:
    own_s = float(doctor["import"][0].split()[-2])
    assert 0 < own_s < IMPORT_S


def test_they_are_said_where_nothing_can_be_recorded(run_python: RunPython, tmp_path: Path) -> None:
    found = ask(run_python, tmp_path, TORCH.replace("DEVICE", "False"))
    assert "import" in found and "cost" not in found
    assert "Nothing can" in found


def test_nothing_is_measured_that_is_not_asked_for(run_python: RunPython, tmp_path: Path) -> None:
    found = ask(run_python, tmp_path, TORCH.replace("DEVICE", "True"), "--no-cost")
    assert "import" in found and "cost" not in found
