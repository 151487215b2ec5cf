"""`oomscope doctor`, which is `python -m oomscope doctor`: whether this torch can record, and what it costs here."""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import subprocess
import sys
import time
from typing import Any

from ._cost import measure
from ._facts import devices_of
from ._history import is_running
from ._program import find_program
from ._sizes import show_size
from ._version import __version__


def doctor(arguments: list[str]) -> int:
    """Prints what is found; 1 if nothing can be recorded."""
    asked = argparse.ArgumentParser(
        prog="oomscope doctor", description="Check whether this PyTorch can record, and at what cost."
    )
    asked.add_argument("--no-cost", action="store_true", help="do not measure what recording costs")
    options = asked.parse_args(arguments)
    _line("oomscope", f"{__version__}, program {find_program() or 'not installed'}")
    _line("Python", f"{sys.version.split()[0]}, {sys.executable}")
    start = time.perf_counter()
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError as error:
        return _nothing(f"torch cannot be imported: {error}")
    torch_s = time.perf_counter() - start
    _line("torch", str(torch.__version__))
    # What a program pays before anything is recorded, and for torch in any case.
    _line("import", f"torch {torch_s:.1f} s{_import_own()}")
    if not torch.cuda.is_available():
        return _nothing("torch finds no device: it records where torch.cuda.is_available()")
    torch.cuda.init()
    for index, device in devices_of(torch).items():
        _line("device", f"{index}: {device['model']}, {show_size(device['total_bytes'])}")
    if not _explain_torch(torch):
        return 1
    if not options.no_cost:
        for line in measure(torch):
            _line("cost", line)
    return 0


def _import_own() -> str:
    """What the package itself takes to import. Here it is imported already, so a new Python is asked."""
    code = "import time; start = time.perf_counter(); import oomscope; print(time.perf_counter() - start)"
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return f", oomscope {float(done.stdout.split()[-1]):.2f} s" if done.returncode == 0 else ""


def _explain_torch(torch: Any) -> bool:
    """What this torch has of what is used; false if it has no history."""
    memory = torch.cuda.memory
    backend = memory.get_allocator_backend() if hasattr(memory, "get_allocator_backend") else "native"
    _line("allocator", backend)
    if backend != "native" or not hasattr(memory, "_record_memory_history"):
        _nothing("history: torch keeps one for its native allocator only, from 2.1 on")
        return False
    known = inspect.signature(memory._record_memory_history).parameters
    if "context" not in known:
        _nothing("history: this torch is too old, 2.1 is needed")
        return False
    _line("history", f"yes, {'already running' if is_running(torch) else 'not running'}")
    _line("on OOM", _yes(hasattr(torch._C, "_cuda_attach_out_of_memory_observer")))
    # Only the version tells.
    version = tuple(int(part) for part in str(torch.__version__).split(".")[:2])
    _line("step ranges", "yes, kept by torch" if (2, 6) <= version else "yes, kept by the recorder")
    _line("metadata", _yes(hasattr(memory, "_set_memory_metadata")))
    return True


def _yes(has: bool) -> str:
    return "yes" if has else "no, this torch has none"


def _line(name: str, text: str) -> None:
    print(f"{name:<12}{text}")


def _nothing(why: str) -> int:
    print(f"Nothing can be recorded here: {why}")
    return 1
