"""What the system itself refuses while a program is estimated, and how an estimate ends."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_estimate import Machine, machine  # noqa: F401
from test_rig import PYTHON

GUARDED = """
import os, sys, threading
from oomscope._estimate.guard import write_only_in
may, free = threading.Event(), threading.Thread(target=lambda: may.wait() and os.system("echo free > free"))
free.start()
if not write_only_in([os.path.abspath("in")]):
    sys.exit(77)
for command in sys.argv[1:]:
    print(command, "=", "refused" if os.system(command + " 2> /dev/null") else "done")
may.set()
free.join()
"""


def guarded(folder: Path, *commands: str) -> dict[str, str]:
    """What becomes of commands of a shell that a thread starts which may write only in the folder `in`."""
    (folder / "in").mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, *commands],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PYTHON), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("this system has no Landlock")
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" = ", 1) for line in done.stdout.splitlines())


def test_other_programs_write_only_where_they_may(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    refused = [
        "echo new > old",
        "rm old",
        "mv old in/old",
        "ln old in/link",
        "mkdir folder",
        "mkfifo pipe",
        "ln -s old symlink",
    ]
    done = ["echo new > in/new", "mkdir in/folder", "mv in/new in/folder/new", "cat old > /dev/null"]
    found = guarded(tmp_path, *refused, *done)
    assert [command for command in refused if found[command] != "refused"] == []
    assert [command for command in done if found[command] != "done"] == []
    assert (tmp_path / "old").read_text() == "old"
    assert (tmp_path / "in" / "folder" / "new").read_text() == "new\n"
    # A thread that was there before may write.
    assert (tmp_path / "free").read_text() == "free\n"


def test_the_file_of_standard_output_may_be_opened_again(tmp_path: Path) -> None:
    script = GUARDED.replace('os.path.abspath("in")', '"/nowhere"').replace("free.start()", "")
    script = (
        script[: script.index("for command")] + 'os.system("echo again >> /dev/stdout; echo no > other")\n'
    )
    with open(tmp_path / "log", "w") as log:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(PYTHON), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=log,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    if done.returncode == 77:
        pytest.skip("this system has no Landlock")
    assert ((tmp_path / "log").read_text(), (tmp_path / "other").exists()) == ("again\n", False)


def test_no_driver_is_opened(tmp_path: Path) -> None:
    """A driver is opened to read and write. This stands in for one: what is written to it goes nowhere."""
    device = tmp_path / "nvidiactl"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_text("")
    except OSError as error:
        pytest.skip(f"no file of a device can be made here: {error}")
    assert guarded(tmp_path, ": <> nvidiactl", ": <> /dev/null") == {
        ": <> nvidiactl": "refused",
        ": <> /dev/null": "done",
    }


WRITES = """
import ctypes, os, subprocess, sys, torch
torch.nn.Linear(8, 8).cuda()
libc = ctypes.CDLL(None)
print("in C", libc.creat(b"in_c", 0o644) != -1, libc.unlink(b"old") == 0)
kept = os.environ.get("KEPT", ".")
subprocess.run(["sh", "-c", f"echo new > {kept}/new && echo other >> /dev/stdout"], check=True)
print("written")
"""


def test_what_does_not_ask_python_is_refused(machine: Machine) -> None:  # noqa: F811
    (machine.directory / "old").write_text("old")
    program = machine.program(WRITES)
    done = machine.estimate(program)
    if "in C True" in done.stdout:
        pytest.skip("this system has no Landlock")
    assert "in C False False" in done.stdout
    assert done.returncode == 1
    assert "CalledProcessError" in done.stdout
    assert "--writable FOLDER lets it write there" in done.stdout
    assert sorted(path.name for path in machine.directory.iterdir()) == ["old", "snapshots", "train.py"]


def test_a_folder_may_be_written_to(machine: Machine) -> None:  # noqa: F811
    kept = machine.directory / "kept"
    kept.mkdir()
    text = f"import os\nos.environ['KEPT'] = {str(kept)!r}\nopen(os.environ['KEPT'] + '/own', 'w').close()\n"
    program = machine.program(text + WRITES)
    done = machine.estimate(program, "--writable", "kept")
    assert "\nwritten\n" in done.stdout, done.stdout
    assert "Would have written" not in done.stdout
    assert sorted(path.name for path in kept.iterdir()) == ["new", "own"]


SLOW = """
import time, torch
layer = torch.nn.Linear(8, 8).cuda()
class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        time.sleep(3600)
try:
    for batch in torch.utils.data.DataLoader(Slow()):
        pass
finally:
    open("saved", "w").close()
"""


def test_a_loader_that_is_slow_is_stopped(machine: Machine) -> None:  # noqa: F811
    began = time.monotonic()
    done = machine.estimate(machine.program(SLOW), "--seconds", "1")
    assert "At least: the time of 1 s was up after 0 steps" in done.stdout, done.stdout + done.stderr
    assert "Needs at least" in done.stdout
    assert time.monotonic() - began < 60
    assert not (machine.directory / "saved").exists()


INTERRUPTED = """
import os, signal, time, torch
layer = torch.nn.Linear(1024, 1024).cuda()
scores = layer(torch.randn(64, 1024, device="cuda"))
chosen = scores[scores > 0]
if os.getppid() == int(open("first").read()):
    # The second run: the first one is interrupted while it waits.
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(3600)
"""

FIRST = """
import os, runpy, sys
with open("first", "w") as file:
    file.write(str(os.getpid()))
sys.argv = ["oomscope", "estimate", "train.py"]
runpy.run_module("oomscope", run_name="__main__")
"""


def test_a_second_run_can_be_given_up(machine: Machine) -> None:  # noqa: F811
    machine.program(INTERRUPTED)
    done = machine.run(machine.program(FIRST, "first.py"), devices=0)
    assert "so that no range is known" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
