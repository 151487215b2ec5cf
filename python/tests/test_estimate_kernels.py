"""What operators take beside their results: predicted without a device, and recorded with PyTorch's own allocator.

OOMSCOPE_RIGS names folders with a torch over stand-ins of CUDA, as for `test_rig.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

PYTHON = Path(__file__).parent.parent
PROGRAM = PYTHON / "tests" / "programs" / "kernels.py"
RIGS = [Path(rig) for rig in os.environ.get("OOMSCOPE_RIGS", "").split(os.pathsep) if rig]
NO_RIG: list[Path | None] = [None]

# Cases whose requests differ, and how much of the larger peak they may differ by.
ABOUT = {
    # cub's sort has tables of its own, whose size depends on the architecture.
    "embedding-f32": 0.01,
    "embedding-bf16": 0.01,
    # A buffer of a few numbers that checks a condition on the device.
    "cross_entropy-smooth-f32": 0.01,
    "cross_entropy-smooth-bf16": 0.01,
    "where-f32": 0.01,
    "where-bf16": 0.01,
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
