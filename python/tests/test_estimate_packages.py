"""Packages with kernels or memory of their own, in programs that are estimated without a device."""

from __future__ import annotations

import pytest
from test_estimate import Machine, machine

__all__ = ["machine"]

# What programs see of Triton, without its compiler.
TRITON = {
    "triton/__init__.py": "from .runtime.jit import jit\nfrom . import language, runtime\n",
    # Torch looks for it.
    "triton/language/__init__.py": "class dtype:\n    pass\n",
    "triton/runtime/__init__.py": "from .driver import driver\n",
    "triton/runtime/jit.py": """
class KernelInterface:
    def __getitem__(self, grid):
        raise RuntimeError("0 active drivers ([]). There should only be one.")
class Kernel(KernelInterface):
    pass
def jit(function):
    return Kernel()
""",
    "triton/runtime/driver.py": """
class Config:
    @property
    def active(self):
        if not hasattr(self, "known"):
            raise RuntimeError("0 active drivers ([]). There should only be one.")
        return self.known
    def set_active(self, driver):
        self.known = driver
driver = Config()
""",
    "triton/backends/__init__.py": "",
    "triton/backends/compiler.py": "def GPUTarget(*about):\n    return about\n",
}

# Outputs are made by the program, so that a launch takes nothing. Zeros are no zeros any more once a kernel wrote them.
LAUNCHES = """
import torch, triton
assert triton.runtime.driver.active.get_current_target()[:2] == ("cuda", 90)
assert triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] == 132
@triton.jit
def double(x, y, n):
    pass
x = torch.ones(1024, device="cuda")
y = torch.zeros_like(x)
assert y.sum().item() == 0
before = torch.cuda.memory_allocated()
double[(8,)](x, y, 1024)
assert torch.cuda.max_memory_allocated() - before < 4096
print("sum", y.sum().item())
"""


def packages(machine: Machine, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = machine.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_kernels_of_triton_are_passed_over(machine: Machine) -> None:
    packages(machine, TRITON)
    done = machine.estimate(machine.program(LAUNCHES))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sum 1.0" in done.stdout
    assert "a Triton kernel is launched: what it computes is not known (train.py:12)" in done.stdout


FAILING = {
    "serving": (
        "import torch, vllm\ntorch.ones(1, device='cuda')\nvllm.LLM(model='gpt')",
        "train.py:3: ServingEngine: vllm is not estimated: it reserves the share of the device that it is told to",
    ),
    "no serving": (
        "import torch\ntorch.ones(1, device='cuda')\nimport sglang",
        "train.py:3: ModuleNotFoundError: No module named 'sglang'. Serving engines divide the device's memory by themselves",
    ),
    "flash attention": (
        "import torch\ntorch.ones(1, device='cuda')\nfrom flash_attn import flash_attn_func",
        "No module named 'flash_attn'. Estimate with attn_implementation=\"sdpa\"",
    ),
    "extension": (
        """
import torch
library = torch.library.Library("strange", "DEF")
library.define("halve(Tensor x) -> Tensor")
library.impl("halve", lambda x: x / 2, "CUDA")
torch.ops.strange.halve(torch.ones(8, device="cuda"))
""",
        "train.py:5: NotImplementedError: ",
    ),
    "compiled": (
        """
import torch
torch.ones(1, device="cuda")
from torch.utils.cpp_extension import load_inline
load_inline("fast", cpp_sources="", cuda_sources="")
""",
        "An extension is compiled for a device here: switch to torch's own operators",
    ),
}


@pytest.mark.parametrize("kind", FAILING)
def test_what_cannot_be_estimated_says_what_to_do(machine: Machine, kind: str) -> None:
    packages(machine, {"vllm/__init__.py": "class LLM:\n    def __init__(self, model):\n        pass\n"})
    program, expected = FAILING[kind]
    done = machine.estimate(machine.program(program.strip()))
    assert done.returncode == 1
    assert f"At least: {'train.py' if 'train.py' in expected else ''}" in done.stdout, (
        done.stdout + done.stderr
    )
    assert expected in done.stdout, done.stdout + done.stderr
    if kind == "extension":
        assert "register them with torch.library.register_fake" in done.stdout


def test_an_operator_that_says_its_sizes_is_estimated(machine: Machine) -> None:
    done = machine.estimate(
        machine.program(
            """
import torch
if hasattr(torch.library, "custom_op"):
    @torch.library.custom_op("strange::halve", mutates_args=())
    def halve(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("it has no values to run on")
    @halve.register_fake
    def _(x):
        return x.new_empty(x.shape[0] // 2)
else:
    halve = lambda x: x[::2].clone()
before = torch.ones(1 << 20, device="cuda")
after = halve(before)
print(after.device, after.shape[0], torch.cuda.memory_allocated())
"""
        )
    )
    assert f"cuda:0 {1 << 19} {6 << 20}" in done.stdout, done.stdout + done.stderr


LEFT_BEHIND = """
import atexit, os, subprocess, sys, threading, time
import torch
def rewrite():
    while True:
        open("status.txt", "w").write("thread")
        time.sleep(0.01)
threading.Thread(target=rewrite, daemon=True).start()
atexit.register(lambda: open("late.txt", "w").write("late"))
seen = "import os; print('sees', repr(os.environ['CUDA_VISIBLE_DEVICES']))"
if "child" in sys.argv:
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    subprocess.run([sys.executable, "-c", seen])
    os.system(f'{sys.executable} -c "{seen}"')
try:
    router, optimizer = torch.nn.Linear(64, 8).cuda(), None
    for _ in range(2 if "whole" in sys.argv else 9):
        x = torch.randn(4096, 64, device="cuda")
        mask = torch.zeros(4096, dtype=torch.bool, device="cuda")
        mask |= router(x).argmax(1) == 0
        (x[mask] @ torch.randn(64, 20000, device="cuda")).sum().item()
        optimizer = optimizer or torch.optim.SGD(router.parameters(), lr=0.1)
        router(x).sum().backward()
        optimizer.step()
except BaseException:
    open("checkpoint.txt", "w").write("overwritten")
finally:
    open("final.txt", "w").write("final")
"""


@pytest.mark.parametrize("kind", ["stopped", "whole", "child"])
def test_nothing_of_a_program_writes_after_its_estimate(machine: Machine, kind: str) -> None:
    """Not its threads, which go on while it runs a second time, nor what it left to its end."""
    packages(machine, {"checkpoint.txt": "mine", "status.txt": "mine"})
    done = machine.estimate(machine.program(LEFT_BEHIND), "--", kind)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in machine.directory.iterdir()} == {
        "checkpoint.txt",
        "snapshots",
        "status.txt",
        "train.py",
    }
    assert {(machine.directory / name).read_text() for name in ("checkpoint.txt", "status.txt")} == {"mine"}
    if kind == "child":
        assert done.stdout.count("sees ''") == 2
        assert "another program is started" in done.stdout
        assert "There was no second run with other stand-ins" in done.stdout
    else:
        # Rows that a mask selects follow from stand-ins, also where it was written in place.
        share = int(done.stdout.split("±")[1].split(" %")[0])
        assert 10 < share, done.stdout


def test_a_program_without_modules_ends_in_time(machine: Machine) -> None:
    program = machine.program("import torch\nx = torch.ones(10, device='cuda')\nwhile True:\n    x = x * 2\n")
    done = machine.estimate(program, "--seconds", "2")
    assert "At least: the time of 2 s was up after 0 steps" in done.stdout, done.stdout + done.stderr
