"""What public training scripts do that the estimator once stumbled over, each as a program of a few lines.

OOMSCOPE_RIGS is as in `test_rig.py`. What needs a library that a rig lacks is skipped there.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from oomscope._estimate.file_calls import catch_files
from oomscope._estimate.overlay import Overlay
from oomscope._estimate.patches import Patches
from test_estimate import Machine, is_alike, machine

__all__ = ["machine"]

# A step that says on a stand-in what was asked for.
STEPS = """
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    step(model)
    optimizer.step()
    optimizer.zero_grad()
if torch.cuda.get_device_name().endswith("(stand-in)"):
    print("peak", torch.cuda.memory_stats()["requested_bytes.all.peak"])
"""

# As litgpt's finetuning: lightning imports torchvision, which has weights that are not read, and fabric names the argument.
NAMED_STATE = (
    """
import torch
import torchvision.models

model = torch.nn.Linear(1024, 1024).to("cuda")
model.load_state_dict(state_dict=model.state_dict(), strict=False)

def step(model):
    model(torch.randn(512, 1024, device="cuda")).sum().backward()
"""
    + STEPS
)

# As transformers makes masks for flex attention, and as gradients of single samples are.
TRANSFORMED = (
    """
import torch
from torch.func import functional_call, grad, vmap

model = torch.nn.Linear(256, 256).to("cuda")

def both(one, other):
    assert other.device.type == "cuda" and other.is_cuda
    return one & other.to(one.device)

def loss(parameters, sample):
    return functional_call(model, parameters, (sample.to("cuda"),)).float().pow(2).sum()

def step(model):
    ones = torch.ones(64, 64, dtype=torch.bool, device="cuda")
    vmap(vmap(both))(ones, ones)
    parameters = {name: one.detach() for name, one in model.named_parameters()}
    samples = torch.randn(64, 256, device="cuda")
    for autocast in (False, True):
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            grads = vmap(grad(loss), (None, 0))(parameters, samples)
    for name, one in model.named_parameters():
        one.grad = grads[name].mean(0)
"""
    + STEPS
)

# As a text encoder takes what it made of the last token.
POSITIONS = (
    """
import torch

model = torch.nn.Linear(256, 256).to("cuda")

def step(model):
    tokens = torch.randint(0, 9, (32, 64)).to("cuda")
    made = model(torch.randn(32, 64, 256, device="cuda"))
    last = made[torch.arange(32, device="cuda"), tokens.argmax(-1)]
    rows = made[made[:, :32, 0].argmax(-1)]
    assert last.shape == (32, 256) and rows.shape == made.shape
    (last.sum() + rows.sum() + made[torch.tensor(1)].sum()).backward()
"""
    + STEPS
)


def is_as_real(machine: Machine, text: str) -> bool:
    """Whether the peak of a program is the one that torch's allocator saw."""
    program = machine.program(text)
    done = machine.estimate(program, "--steps", "9")
    assert (done.returncode, done.stderr) == (0, "")
    real = machine.run(program, devices=1).stdout.splitlines()[-1].split()
    return is_alike(machine.stats()["peak"]["allocated"], int(real[1]))


def test_weights_are_loaded_by_the_name_of_the_argument(machine: Machine) -> None:
    found = machine.run("-c", "import torchvision", devices=0)
    if found.returncode:
        pytest.skip(f"the rig has no torchvision: {found.stderr.strip().splitlines()[-1]}")
    assert is_as_real(machine, NAMED_STATE)


def test_transforms_of_functions_ask_for_devices(machine: Machine) -> None:
    assert is_as_real(machine, TRANSFORMED)


def test_positions_do_not_decide_on_sizes(machine: Machine) -> None:
    assert is_as_real(machine, POSITIONS)
    predicted = (machine.directory / "snapshots" / "estimate.pickle").read_bytes()
    assert b"index of unknown numbers" not in predicted


def test_a_program_of_a_library_has_lines_of_its_own(machine: Machine) -> None:
    folder = machine.directory / "site-packages" / "library"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(
        "import torch\n\nprint(torch.zeros(2, device='cuda') + torch.zeros(3))\n"
    )
    done = machine.estimate(str(folder / "train.py"))
    assert done.returncode == 1
    assert "library/train.py:3" in done.stdout + done.stderr


@pytest.mark.parametrize("kind", [one for one in multiprocessing.get_all_start_methods() if one != "fork"])
def test_processes_that_begin_anew_write_apart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As loaders of litdata have their workers."""
    monkeypatch.chdir(tmp_path)
    patches, overlay = Patches(), Overlay()
    catch_files(patches, overlay)
    try:
        path = tmp_path / "written.txt"
        process = multiprocessing.get_context(kind).Process(target=path.write_text, args=("x",))  # type: ignore[attr-defined]
        process.start()
        process.join(100)
        assert process.exitcode == 0
        assert path.read_text() == "x"
    finally:
        patches.restore()
        overlay.clean()
    assert not path.exists()
