"""Cells of IPython, run as a notebook's kernel runs them: when one of them runs out of memory, the verdict stands below its traceback."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import RunPython

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("IPython") is None, reason="IPython is not installed: pip install ipython"
)

# The kernel: everything that it shows, in its order. A verdict is one line.
KERNEL = """
import json, sys, traceback
sys.stderr = sys.stdout
from IPython.core.interactiveshell import InteractiveShell
from fake_torch import FakeTorch, install
from oomscope import _session
torch = FakeTorch()
install(torch)
torch.use_device()
_session.print_verdict = lambda path: print("VERDICT of", path.name.partition("_")[2])
class OutOfMemoryError(RuntimeError): pass
def fail():
    torch.run_out()
    raise OutOfMemoryError("no memory")
shell = InteractiveShell.instance()
shell.push({"torch": torch, "fail": fail, "shell": shell, "OutOfMemoryError": OutOfMemoryError})
for cell in json.loads(sys.argv[1]):
    print("CELL")
    shell.run_cell(cell)
print("CALLBACKS", sum(len(shell.events.callbacks[name]) for name in ("pre_run_cell", "post_run_cell")))
print("END")
"""

BEGIN = "import oomscope; recording = oomscope.record('out')"


class Notebook:
    """A new kernel, which runs cells and ends."""

    def __init__(self, run_python: RunPython, folder: Path) -> None:
        self._run_python = run_python
        self._folder = folder
        (folder / "kernel.py").write_text(KERNEL)

    def run(self, *cells: str) -> list[str]:
        """What each cell shows of traceback, verdicts and callbacks that failed; then what was shown at the end of the kernel."""
        shutil.rmtree(self._folder / "out", ignore_errors=True)
        tests = Path(__file__).parent
        path = os.pathsep.join([str(tests.parent), str(tests)])
        done = self._run_python("kernel.py", json.dumps(cells), PYTHONPATH=path, IPYTHONDIR="ipython")
        assert done.returncode == 0, done.stdout + done.stderr
        words = ("CELL", "END", "CALLBACKS", "VERDICT", "OutOfMemoryError:", "KeyError:", "Error in callback")
        plain = re.sub("\x1b\\[[0-9;]*m", "", done.stdout)
        lines = (line for line in plain.splitlines() if line.startswith(words))
        return [line.partition(":")[0] for line in lines]


@pytest.fixture
def notebook(run_python: RunPython, tmp_path: Path) -> Notebook:
    return Notebook(run_python, tmp_path)


def test_a_cell_that_runs_out_of_memory_has_the_verdict_below_its_traceback(notebook: Notebook) -> None:
    assert notebook.run(BEGIN, "fail()", "1 + 1") == [
        "CELL",
        "CELL",
        "OutOfMemoryError",
        "VERDICT of rank0_oom.pickle",
        "CELL",
        "CALLBACKS 2",
        "END",
    ]


def test_cells_with_magics_are_cells_like_others(notebook: Notebook) -> None:
    shown = ["OutOfMemoryError", "VERDICT of rank0_oom.pickle"]
    assert notebook.run(BEGIN, "%%time\nfail()")[1:4] == ["CELL", *shown]
    # It goes where the traceback goes.
    assert notebook.run(BEGIN, "%%capture captured\nfail()", "captured.show()")[1:5] == [
        "CELL",
        "CELL",
        *shown,
    ]


def test_the_cell_that_begins_the_recording_counts(notebook: Notebook) -> None:
    assert notebook.run(f"{BEGIN}\nfail()")[:3] == ["CELL", "OutOfMemoryError", "VERDICT of rank0_oom.pickle"]


def test_each_failed_cell_has_its_own(notebook: Notebook) -> None:
    found = notebook.run(BEGIN, "fail()", "fail()")
    assert [line for line in found if "VERDICT" in line] == [
        "VERDICT of rank0_oom.pickle",
        "VERDICT of rank0_oom_2.pickle",
    ]


def test_a_traceback_of_before_is_none_of_the_cell(notebook: Notebook) -> None:
    found = notebook.run(BEGIN, "fail()", "try: fail()\nexcept RuntimeError: pass")
    assert found[-4:] == ["CELL", "CALLBACKS 2", "END", "VERDICT of rank0_oom_2.pickle"]


def test_what_the_program_caught_is_left_for_the_end(notebook: Notebook) -> None:
    caught = "try: fail()\nexcept RuntimeError: pass"
    found = notebook.run(BEGIN, caught, "raise OutOfMemoryError('of before')", "raise KeyError(1)")
    assert found == [
        *["CELL", "CELL", "CELL", "OutOfMemoryError", "CELL", "KeyError", "CALLBACKS 2", "END"],
        "VERDICT of rank0_oom.pickle",
    ]


def test_errors_that_come_from_it_count_as_the_traceback_shows_them(notebook: Notebook) -> None:
    shown = "try: fail()\nexcept RuntimeError as error: raise KeyError('shown') from error"
    hidden = "try: fail()\nexcept RuntimeError: raise KeyError('hidden') from None"
    assert [line for line in notebook.run(BEGIN, shown, hidden) if "VERDICT" in line] == [
        "VERDICT of rank0_oom.pickle",
        "VERDICT of rank0_oom_2.pickle",
    ]
    assert notebook.run(BEGIN, hidden)[-2:] == ["END", "VERDICT of rank0_oom.pickle"]


def test_a_recording_that_the_exception_ends_has_it_below_the_traceback_too(notebook: Notebook) -> None:
    found = notebook.run("import oomscope\nwith oomscope.record('out'): fail()", "1 + 1")
    assert found == [
        *["CELL", "OutOfMemoryError", "VERDICT of rank0_oom.pickle", "CELL"],
        *["CALLBACKS 0", "END"],
    ]


def test_nobody_listens_after_the_recording(notebook: Notebook) -> None:
    ends = "recording.stop()"
    assert notebook.run(BEGIN, BEGIN, ends, "fail()")[-3:] == ["OutOfMemoryError", "CALLBACKS 0", "END"]
    # The verdict of the last request is said once.
    assert notebook.run(BEGIN, "fail()", ends)[-3:] == ["CELL", "CALLBACKS 0", "END"]
    again = notebook.run(BEGIN, ends, BEGIN, "fail()")
    assert again[-4:] == ["OutOfMemoryError", "VERDICT of rank0_oom.pickle", "CALLBACKS 2", "END"]


def test_without_a_verdict_nobody_listens(notebook: Notebook) -> None:
    assert notebook.run("import oomscope; oomscope.record('out', verdict=False)")[-2:] == [
        "CALLBACKS 0",
        "END",
    ]


def test_a_verdict_that_fails_is_no_error_of_the_cell(notebook: Notebook) -> None:
    breaks = (
        "from oomscope import _session\ndef fails(path): raise ValueError\n_session.print_verdict = fails"
    )
    assert notebook.run(breaks, BEGIN, "fail()", "1 + 1") == [
        *["CELL", "CELL", "CELL", "OutOfMemoryError", "CELL", "CALLBACKS 2", "END"],
    ]


def test_a_child_says_nothing_below_the_cells_of_its_parent(notebook: Notebook) -> None:
    forks = "import os\nif os.fork() == 0:\n    shell.run_cell('fail()')\n    os._exit(0)\nos.wait();"
    assert [line for line in notebook.run(BEGIN, forks) if "VERDICT" in line] == [
        "VERDICT of rank0_end.pickle"
    ]
