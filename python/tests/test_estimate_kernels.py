"""What operators take beside their results: predicted without a device, and recorded with PyTorch's own allocator.

OOMSCOPE_RIGS names folders with a torch over stand-ins of CUDA, as for `test_rig.py`.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PYTHON = Path(__file__).parent.parent
PROGRAM = PYTHON / "tests" / "programs" / "kernels.py"
RULES = PYTHON / "oomscope" / "_estimate" / "kernel_rules"
# What a rule says that no case shows.
UNMEASURED = "unmeasured:"
ENTERING = ("rule", "written")
RIGS = [Path(rig) for rig in os.environ.get("OOMSCOPE_RIGS", "").split(os.pathsep) if rig]
NO_RIG: list[Path | None] = [None]

# Cases whose requests differ, and how much of the larger peak they may differ by.
ABOUT = {
    # The number that is written: a device of old versions gets it from the CPU.
    "set-mask-f32": 0.001,
    "set-mask-bf16": 0.001,
}


def run(rig: Path, world: str, out: Path) -> dict[str, Any]:
    standin = str(rig / "standin")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": standin,
        "STANDIN_LIBS": standin,
        "STANDIN_DEVICE_MEM_MB": "81079",
        "STANDIN_DEVICES": "1" if world == "real" else "0",
        "PYTHONPATH": str(PYTHON),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [str(rig / "venv" / "bin" / "python"), str(PROGRAM), world, str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize("rig", RIGS or NO_RIG, ids=lambda rig: "none" if rig is None else rig.name)
def test_operators_ask_for_what_is_predicted(rig: Path | None, tmp_path: Path) -> None:
    if rig is None:
        pytest.skip("OOMSCOPE_RIGS names no torch over stand-ins of CUDA")
    real = run(rig, "real", tmp_path / "real.json")
    predicted = run(rig, "estimate", tmp_path / "estimate.json")
    assert list(predicted) == list(real)
    wrong = []
    for name, one in real.items():
        other = predicted[name]
        allowed = ABOUT.get(name)
        if allowed is None:
            is_right = other == one
        else:
            is_right = abs(other["peak"] - one["peak"]) <= allowed * max(other["peak"], one["peak"])
        if not is_right:
            wrong.append((name, other, one))
    assert not wrong, "\n".join(f"{name}: predicted {other}, recorded {one}" for name, other, one in wrong)


def rows() -> Iterator[tuple[str, str | None]]:
    """Where each rule is entered, and the case that it names."""
    for path in sorted(RULES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ENTERING:
                named = [one.value for one in node.keywords if one.arg == "case"]
                case = named[0].value if named and isinstance(named[0], ast.Constant) else None
                yield f"{path.name}:{node.lineno}", case if isinstance(case, str) else None


def names_of_cases() -> set[str]:
    """The cases of the program: what it yields, and the keys of its tables."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(PROGRAM.read_text())):
        if isinstance(node, ast.Dict):
            found += node.keys
        elif isinstance(node, ast.Subscript):
            found.append(node.slice)
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            found.append(node.value.elts[0])
    return {one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_each_rule_names_a_case_that_shows_it() -> None:
    names = names_of_cases()
    entered = list(rows())
    assert len(entered) > 100
    lost = [
        f"{place}: {case}"
        for place, case in entered
        if case is None or (case not in names and not case.startswith(UNMEASURED))
    ]
    assert not lost, "\n".join(lost)
