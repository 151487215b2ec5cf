"""`python -m oomscope`: programs run as Python runs them, and other commands are the program's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import RunPython

# A program that tells how it was started; it imports a neighbour, as programs do.
PROGRAM = """
import json, pickle, sys, neighbour
class Own: pass
def main():
    assert type(pickle.loads(pickle.dumps(Own()))) is Own
    path = sys.path[0]
    print(json.dumps([sys.argv, path, __name__, __file__, __spec__ is None, sorted(globals())]))
if __name__ == "__main__":
    main()
    sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "neighbour.py").touch()
    (folder / "train.py").write_text(PROGRAM.replace("__spec__ is None", "True"))
    return folder / "train.py"


def test_a_script_sees_what_it_sees_without(run_python: RunPython, program: Path) -> None:
    plain = run_python("folder/train.py", "3", "--dir", "x")
    recorded = run_python("-m", "oomscope", "run", "--dir", "s", "folder/train.py", "3", "--dir", "x")
    assert (plain.returncode, recorded.returncode) == (3, 3)
    before, after = json.loads(plain.stdout), json.loads(recorded.stdout)
    assert after[:5] == before[:5]
    assert set(after[5]) <= set(before[5]) | {"__spec__", "__loader__"}


def test_a_module_sees_what_it_sees_without(run_python: RunPython, program: Path, tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").touch()
    plain = run_python("-m", "folder.train", "0", "-x")
    recorded = run_python("-m", "oomscope", "run", "-m", "folder.train", "0", "-x")
    assert json.loads(recorded.stdout)[:5] == json.loads(plain.stdout)[:5]


def test_a_program_without_torch_is_told_so(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("print('done')")
    done = run_python("-m", "oomscope", "run", "p.py")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr == "oomscope: the program used no device; nothing was recorded\n"


def test_exceptions_are_the_programs_own(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("raise KeyError('mine')")
    done = run_python("-m", "oomscope", "run", "p.py")
    assert done.returncode == 1
    assert done.stderr.endswith("KeyError: 'mine'\n")


def test_processes_that_the_program_starts_find_it(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "import multiprocessing as m\n"
        "def work(x): return x + 1\n"
        "if __name__ == '__main__':\n"
        "    with m.get_context('spawn').Pool(1) as pool: print(pool.map(work, [1]))\n"
    )
    assert run_python("-m", "oomscope", "run", "p.py").stdout == "[2]\n"


def test_torch_is_recorded_when_the_program_imports_it(run_python: RunPython, tmp_path: Path) -> None:
    tests = Path(__file__).parent
    (tmp_path / "torch.py").write_text("from fake_torch import FakeTorch, install\ninstall(FakeTorch())\n")
    (tmp_path / "p.py").write_text(
        "import os\nos.environ['EARLY'] = '1'\nimport torch\ntorch.use_device()\ntorch.run_out()\n"
    )
    path = os.pathsep.join([str(tests.parent), str(tests)])
    options = ["--dir", "out", "--no-verdict", "--stacks", "python"]
    done = run_python("-m", "oomscope", "run", *options, "p.py", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert [name.partition("_")[2] for name in os.listdir(tmp_path / "out")] == ["rank0_oom.pickle"]


@pytest.mark.parametrize("options", [[], ["--signal", "USR1"]])
def test_a_signal_that_comes_before_torch_does_nothing(
    options: list[str], run_python: RunPython, tmp_path: Path
) -> None:
    name = options[-1] if options else "USR2"
    (tmp_path / "p.py").write_text(f"import signal\nsignal.raise_signal(signal.SIG{name})\n")
    assert run_python("-m", "oomscope", "run", *options, "p.py").returncode == 0
    assert run_python("-m", "oomscope", "run", "--signal", "none", "p.py").returncode < 0


def test_a_run_needs_a_program(run_python: RunPython) -> None:
    for arguments, error in (([], "which program?"), (["none.py"], "there is no file none.py")):
        done = run_python("-m", "oomscope", "run", *arguments)
        assert done.returncode == 2
        assert error in done.stderr


def test_a_doctor_without_torch_says_so(run_python: RunPython) -> None:
    done = run_python("-m", "oomscope", "doctor")
    assert done.returncode == 1
    assert "Nothing can be recorded here: torch cannot be imported" in done.stdout


def test_other_commands_are_the_programs(run_python: RunPython, tmp_path: Path) -> None:
    program = tmp_path / "oomscope"
    program.write_text('#!/bin/sh\necho "$@"\nexit 4\n')
    program.chmod(0o755)
    done = run_python("-m", "oomscope", "stats", "a b", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert (done.returncode, done.stdout) == (4, "stats a b\n")
