"""Recording with PyTorch's own allocator, where it is at hand without a device.

OOMSCOPE_RIGS names folders, separated as in PATH, each with an environment `venv` that has torch, and a folder `standin` with
libraries that stand in for CUDA's.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

PYTHON = Path(__file__).parent.parent
PROGRAM = PYTHON.parent / "target" / "debug" / "oomscope"
RIGS = [Path(rig) for rig in os.environ.get("OOMSCOPE_RIGS", "").split(os.pathsep) if rig]


class Rig:
    """A torch over stand-ins, and a directory to run programs in."""

    def __init__(self, rig: Path, directory: Path) -> None:
        self.directory = directory
        self._rig = rig
        shown = self.run("-c", "import torch; print(torch.__version__)").stdout.strip()
        self.torch = shown
        self.version = tuple(int(part) for part in shown.split(".")[:2])

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = [str(PYTHON), str(PYTHON / "tests" / "programs")]
        standin = str(self._rig / "standin")
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": standin,
            "STANDIN_LIBS": standin,
            "STANDIN_DEVICE_MEM_MB": "4096",
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [str(self._rig / "venv" / "bin" / "python"), *arguments],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def record(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the small GPT as `python -m oomscope run`."""
        program = str(PYTHON / "tests" / "programs" / "gpt.py")
        return self.run("-m", "oomscope", "run", "--no-verdict", "--dir", "out", program, *arguments)

    def files(self, pattern: str = "*") -> dict[str, dict[str, Any]]:
        """The snapshots by their names without the time."""
        paths = sorted((self.directory / "out").glob(pattern))
        return {path.name.partition("_")[2]: pickle.loads(path.read_bytes()) for path in paths}


NO_RIG: list[Path | None] = [None]


@pytest.fixture(params=RIGS or NO_RIG, ids=lambda rig: "none" if rig is None else rig.name)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    if request.param is None:
        pytest.skip("OOMSCOPE_RIGS names no torch over stand-ins of CUDA")
    return Rig(request.param, tmp_path)


def actions(snapshot: dict[str, Any]) -> Counter[str]:
    return Counter(event["action"] for event in snapshot["device_traces"][0])


def test_a_program_that_runs_out_of_memory(rig: Rig) -> None:
    done = rig.record("--large", "2")
    assert done.returncode == 1
    assert "OutOfMemoryError: CUDA out of memory" in done.stderr
    files = rig.files()
    assert list(files) == ["rank0_step2_oom.pickle"]
    snapshot = files["rank0_step2_oom.pickle"]
    assert actions(snapshot)["oom"] == 1
    assert snapshot["device_traces"][0][-1]["action"] == "oom"
    about = snapshot["oomscope"]
    assert (about["torch"], about["rank"], about["step"]) == (rig.torch, 0, 2)
    assert about["oom"]["total_bytes"] == about["devices"]["0"]["total_bytes"] == 4096 * 2**20
    frames = {
        frame["filename"] for event in snapshot["device_traces"][0] for frame in event.get("frames", [])
    }
    assert any(name.endswith("gpt.py") for name in frames)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: cargo build")
def test_what_is_printed_below_the_exception(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")
    gpt = str(PYTHON / "tests" / "programs" / "gpt.py")
    done = rig.run("-m", "oomscope", "run", "--dir", "out", gpt, "--large", "2")
    assert done.returncode == 1
    exception, *said = done.stderr.partition("torch.OutOfMemoryError: ")[2].splitlines()
    assert exception.startswith("CUDA out of memory")
    lines = [line.removeprefix("oomscope: ") for line in said]
    assert lines[0] == "critical · single-request"
    assert lines[1].startswith("Out of memory: one request of 8.00 GiB")
    assert lines[2].startswith(f"line: {gpt}:") and lines[2].endswith(" forward")
    assert lines[3].startswith("why: ")
    assert any(line.startswith("what to change: ") for line in lines)
    assert lines[-1].startswith("more: oomscope report ")
    # The runner's frames are in the recording, and are no lines of the program.
    (path,) = (rig.directory / "out").iterdir()
    command = [str(PROGRAM), "report", str(path), "--verbose"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert b"oomscope/_run.py" in path.read_bytes()
    assert "gpt.py:" in report and "_run.py" not in report and "_programs.py" not in report


def test_a_program_that_catches_and_goes_on(rig: Rig) -> None:
    assert rig.record("--large", "2", "--catch").returncode == 0
    assert list(rig.files()) == ["rank0_step2_oom.pickle"]


def test_a_program_that_ends_well(rig: Rig) -> None:
    done = rig.record()
    assert (done.returncode, done.stdout) == (0, "")
    assert list(rig.files()) == ["rank0_step4_end.pickle"]


COUNTED = """
import torch
for _ in range(50):
    kept = [torch.empty(2**20, device="cuda") for _ in range(8)]
    del kept
stats = torch.cuda.memory_stats()
print(stats["requested_bytes.all.peak"], stats["reserved_bytes.all.peak"])
kept = torch.empty(2**20, device="cuda")
"""


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built: cargo build")
def test_limits_go_by_the_counters_of_torch_where_the_history_lost_its_start(rig: Rig) -> None:
    (rig.directory / "counted.py").write_text(COUNTED)
    done = rig.run(
        "-m", "oomscope", "run", "--no-verdict", "--dir", "out", "--max-entries", "2", "counted.py"
    )
    assert done.returncode == 0, done.stderr
    requested, reserved = map(int, done.stdout.split())
    assert requested == 8 * 2**22
    (snapshot,) = rig.files().values()
    about = snapshot["oomscope"]["devices"]["0"]
    assert (about["peak_requested_bytes"], about["peak_reserved_bytes"]) == (requested, reserved)
    (path,) = (rig.directory / "out").iterdir()

    def exit_code(limit: int) -> int:
        command = [str(PROGRAM), "check", str(path), "--max-peak", str(limit)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert (exit_code(requested), exit_code(requested - 1)) == (0, 3)


def test_marks_workers_peaks_and_signals(rig: Rig) -> None:
    done = rig.run(str(PYTHON / "tests" / "programs" / "marked.py"), "out")
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    files = rig.files()
    assert {"rank0_step4_signal.pickle", "rank0_step4_end.pickle"} <= files.keys()
    assert any("peak" in name for name in files)
    snapshot = files["rank0_step4_end.pickle"]
    ranges = Counter(range["name"] for range in snapshot["external_annotations"])
    assert {ranges[f"step_{step}"] for step in range(4)} == {2}
    assert ranges["forward"] == 8
    if (2, 12) <= rig.version:
        seen = {event["user_metadata"] for event in snapshot["device_traces"][0]}
        assert {'{"step":0,"phase":"forward"}', '{"step":3}', ""} <= seen


def test_signals_end_no_program(rig: Rig) -> None:
    done = rig.run(str(PYTHON / "tests" / "programs" / "asked.py"), "out")
    assert (done.returncode, done.stdout) == (0, "own\nown\n"), done.stderr
    assert "nothing to write yet" in done.stderr
    assert list(rig.files()) == ["rank0_signal.pickle"]


def test_the_doctor_finds_all_of_it(rig: Rig) -> None:
    done = rig.run("-m", "oomscope", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "allocations/s" in done.stdout


def test_tensors_have_the_names_that_the_program_gives_them(rig: Rig) -> None:
    done = rig.run(str(PYTHON / "tests" / "programs" / "named.py"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["same"] and found["named"] > 100, found
    # 50 ms on a machine that has nothing else to do.
    assert found["all"] > 1000 and found["s"] < 0.5, found


def test_who_holds_a_tensor_is_the_variable_that_leads_to_it(rig: Rig) -> None:
    done = rig.run(str(PYTHON / "tests" / "programs" / "holders.py"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["wrong"], found["right"]) == ({}, 23)
    assert found["saved"] == ({'["losses", "fit"]': 3} if rig.version >= (2, 15) else {})


def test_shards_have_the_names_and_shapes_of_what_they_are_parts_of(rig: Rig) -> None:
    if rig.version < (2, 6):
        pytest.skip("this torch has no fully_shard")
    done = rig.run(str(PYTHON / "tests" / "programs" / "sharded.py"))
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    roles = Counter(role for role, *_ in rows)
    assert (roles["parameter"], roles["gradient"], roles["optimizer_state"]) == (4, 4, 8), rows
    assert ["parameter", "0.weight", [64, 256], [256, 256]] in rows
    assert ["gradient", "2.bias", [64], [256]] in rows


def test_names_are_read_from_what_was_written(rig: Rig) -> None:
    if not PROGRAM.exists():
        pytest.skip("the program is not built: cargo build")
    rig.record("--large", "2")
    (path,) = (rig.directory / "out").iterdir()
    command = [str(PROGRAM), "live", str(path), "--format", "json", "--top", "1000"]
    blocks = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    named = {tensor["name"]: block for block in blocks for tensor in block["named"] if tensor["role"]}
    weight = named["exp_avg of blocks.1.qkv.weight"]
    assert (weight["category"], weight["rule"], weight["size"]) == ("optimizer_state", "named", 4 * 768 * 256)
    roles = Counter(tensor["role"] for block in blocks for tensor in block["named"])
    assert roles["parameter"] == 19 and roles["optimizer_state"] == 38


RANKS = str(PYTHON / "tests" / "programs" / "ranks.py")


@pytest.mark.parametrize("fails", ["oom", "raise"])
def test_each_rank_leaves_a_file_when_one_fails(fails: str, rig: Rig) -> None:
    count = 4
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count))
    run = ("-m", "oomscope", "run", "--no-verdict", "--dir", "out", RANKS, fails)
    done = rig.run(*launch, *run)
    assert done.returncode == 1, done.stderr
    files = rig.files("*.pickle")
    own = "oom" if fails == "oom" else "end"
    assert {(about["rank"], about["reason"]) for about in (file["oomscope"] for file in files.values())} >= {
        (1, own)
    }
    assert {file["oomscope"]["rank"] for file in files.values()} == set(range(count)), done.stderr
    assert len(files) == count


def test_modules_are_those_that_made_the_gradients(rig: Rig) -> None:
    program = str(PYTHON / "tests" / "programs" / "modules.py")
    done = rig.run(program, *(["3"] if rig.version >= (2, 12) else ["3", "plain"]))
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    if rig.version >= (2, 12):
        assert (found["wrong"], found["right"]) == ([], 32)
        # A block that is run again in the backward pass has its own names there.
        assert {"blocks.1.mlp.0", "blocks.1.norm", "head"} <= found["made"].keys()
        assert "mlp.0" not in found["made"]
