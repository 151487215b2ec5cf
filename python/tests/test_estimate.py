"""Programs that are estimated without a device, beside what PyTorch's own allocator was asked for.

Every estimate here is made where torch finds no device. OOMSCOPE_RIGS is as in `test_rig.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_rig import NO_RIG, PROGRAM, PYTHON, RIGS

GPT = PYTHON / "tests" / "programs" / "gpt.py"


class Machine:
    """A torch with a device that stands in, or with none, and the program."""

    def __init__(self, rig: Path, directory: Path) -> None:
        self.directory = directory
        self._rig = rig

    def run(self, *arguments: str, devices: int) -> subprocess.CompletedProcess[str]:
        standin = str(self._rig / "standin")
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": standin,
            "STANDIN_LIBS": standin,
            "STANDIN_DEVICES": str(devices),
            "STANDIN_DEVICE_MEM_MB": "40000",
            "PYTHONPATH": str(PYTHON),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
        }
        command = [str(self._rig / "venv" / "bin" / "python"), *arguments]
        return subprocess.run(
            command,
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def estimate(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "oomscope", "estimate", *arguments, devices=0)

    def program(self, text: str, name: str = "train.py") -> str:
        """A program as a file."""
        (self.directory / name).write_text(text)
        return name

    def stats(self) -> dict[str, Any]:
        """What `oomscope stats` says of the predicted file."""
        file = str(self.directory / "snapshots" / "estimate.pickle")
        command = [str(PROGRAM), "stats", "--format", "json", file]
        (device,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        found: dict[str, Any] = device
        return found


@pytest.fixture(params=RIGS or NO_RIG, ids=lambda rig: "none" if rig is None else rig.name)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    if request.param is None:
        pytest.skip("OOMSCOPE_RIGS names no torch over stand-ins of CUDA")
    if not PROGRAM.exists():
        pytest.skip("the program is not built: cargo build")
    return Machine(request.param, tmp_path)


# What cuBLAS keeps for each thread that uses it. Stand-ins have one handle for all threads, devices another for that of the backward.
WORKSPACE = 32 << 20


def is_alike(predicted: int, real: int) -> bool:
    """Whether a prediction is right: to 2 %, but for the workspace of the thread that stand-ins do not tell apart."""
    return any(abs(predicted - more - real) <= 0.02 * real for more in (0, WORKSPACE))


TRAINED = """
import torch
from torch import nn
import torch.nn.functional as F

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, 8, d // 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(x)

torch.backends.cudnn.enabled = False
getattr(torch.backends.cuda, "enable_cudnn_sdp", lambda _: None)(False)
model = nn.Sequential(nn.Embedding(8192, 512), *[Block(512) for _ in range(4)], nn.Linear(512, 8192)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(3):
    tokens = torch.randint(0, 8192, (8, 512)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
if torch.cuda.get_device_name().endswith("(stand-in)"):
    print("peak", torch.cuda.memory_stats()["requested_bytes.all.peak"], torch.cuda.max_memory_reserved())
"""


def test_a_step_of_training_is_as_on_a_device(machine: Machine) -> None:
    program = machine.program(TRAINED)
    done = machine.estimate(program, "--steps", "9")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Needs " in done.stdout and ": fits" in done.stdout
    real = machine.run(program, devices=1).stdout.splitlines()[-1].split()
    peak = machine.stats()["peak"]
    assert is_alike(peak["allocated"], int(real[1]))
    assert is_alike(peak["reserved"], int(real[2]))


def test_the_predicted_file_is_a_recording_with_names(machine: Machine) -> None:
    done = machine.estimate(machine.program(TRAINED), "-o", "here/predicted.pickle")
    assert done.returncode == 0
    file = str(machine.directory / "here" / "predicted.pickle")
    live = subprocess.run([str(PROGRAM), "live", "--format", "json", file], capture_output=True, check=True)
    names = live.stdout.decode()
    assert '"1.qkv.weight"' in names and "exp_avg" in names
    report = subprocess.run([str(PROGRAM), "report", file], capture_output=True, text=True, check=True).stdout
    assert "Predicted without a device: what `train.py` would ask for in 2 steps." in report
    assert "train.py:" in report and "oomscope/_" not in report


def test_a_program_that_does_not_fit(machine: Machine) -> None:
    done = machine.estimate(machine.program(TRAINED), "--device", "0.6GiB,1GiB")
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert sum("does not fit" in line for line in lines) == 2
    assert any(line.startswith("The cheapest change that fits: ") for line in lines)
    assert machine.estimate("train.py", "--device", "0.6GiB,80GiB").returncode == 0


SAVES = """
import json, os, sqlite3, sys
import torch

torch.backends.cudnn.enabled = False
out = sys.argv[1]
os.makedirs(out, exist_ok=True)
model = torch.nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
try:
    for step in range(2):
        model(torch.randn(8, 512, device="cuda")).sum().backward()
        optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, out + "/last.pt")
        found = torch.load(out + "/last.pt", map_location="cuda")
        model.load_state_dict(found["model"])
        assert found["optimizer"]["state"][0]["momentum_buffer"].is_cuda
        os.replace(out + "/last.pt", out + "/best.pt")
        json.dump({"step": step}, open(out + "/state.json", "w"))
        assert json.load(open(out + "/state.json")) == {"step": step}
finally:
    os.remove(out + "/best.pt")
    database = sqlite3.connect(out + "/runs.db")
    database.execute("create table runs (step)")
    database.commit()
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), out + "/model.ts")
    open(out + "/final.txt", "w").write("done")
"""


def test_nothing_is_written_but_the_estimate(machine: Machine) -> None:
    out = machine.directory / "out"
    out.mkdir()
    (out / "best.pt").write_text("precious")
    for steps in ("2", "99"):
        done = machine.estimate(machine.program(SAVES), "--steps", steps, "--", str(out))
        assert (done.returncode, done.stderr) == (0, "")
        assert "Would have written out/last.pt, out/best.pt" in done.stdout
        assert [path.name for path in out.iterdir()] == ["best.pt"]
        assert (out / "best.pt").read_text() == "precious"
    assert sorted(path.name for path in machine.directory.iterdir()) == ["out", "snapshots", "train.py"]


def test_a_program_that_fails_says_where(machine: Machine) -> None:
    failing = TRAINED.replace("loss.backward()", "loss.backward()\n    unknown_name")
    done = machine.estimate(machine.program(failing))
    assert done.returncode == 1
    line = 1 + failing.splitlines().index("    unknown_name")
    assert f"train.py:{line}: NameError: name 'unknown_name' is not defined" in done.stdout
    assert "Needs at least " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "Traceback" in machine.estimate("train.py", "--traceback").stderr


def test_a_program_that_never_ends_is_stopped(machine: Machine) -> None:
    endless = TRAINED.replace("for step in range(3)", "import itertools\nfor step in itertools.count()")
    done = machine.estimate(machine.program(endless), "--steps", "1")
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line[0].isdigit()] == ["0 1.0"]


def test_values_that_decide_on_sizes(machine: Machine) -> None:
    """What was copied to the device is known; of what is computed from parameters, numbers stand in."""
    program = machine.program(
        """
import torch
tokens = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 0]]).cuda()
assert (tokens != 0).sum().item() == 5
assert tokens[tokens != 0].tolist() == [1, 2, 3, 4, 5]
assert tokens.nonzero().shape == (5, 2)
weights = torch.nn.Linear(1024, 8).cuda()
scores = weights(torch.randn(8192, 1024, device="cuda"))
chosen = scores.topk(2, dim=-1).indices
counts = [int((chosen == expert).any(-1).nonzero().numel()) for expert in range(8)]
assert sum(counts) == 16384 and max(counts) < 2500, counts
assert not torch.isnan(scores).any() and torch.isfinite(scores).all()
assert (weights.weight * 2).mean().item() == 1.0
print(scores.device, scores.is_cuda, scores.detach().cpu().numpy().shape)
"""
    )
    done = machine.estimate(program)
    assert "cuda:0 True (8192, 8)" in done.stdout, done.stdout + done.stderr


def test_a_model_that_is_meant_to_have_no_memory_takes_none(machine: Machine) -> None:
    """As where a program counts operations before it begins; torch makes masks and gradients for it in C++."""
    program = machine.program(
        """
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
with torch.device("meta"):
    layer, x = nn.Linear(64, 192), torch.randn(8, 1024, 64)
with FlopCounterMode(display=False):
    q, k, v = layer(x).view(8, 1024, 3, 1, 64).permute(2, 0, 3, 1, 4)
    nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
print("meanwhile", torch.cuda.max_memory_allocated())
nn.Linear(64, 64).cuda()(torch.randn(4, 64, device="cuda")).sum().backward()
print("then", 0 < torch.cuda.max_memory_allocated())
"""
    )
    done = machine.estimate(program)
    assert "meanwhile 0\nthen True" in done.stdout, done.stdout + done.stderr


def test_it_says_what_is_missing(machine: Machine) -> None:
    assert "there is no file none.py" in machine.estimate("none.py").stderr
    assert (
        "--lr is no option of this command" in machine.estimate(machine.program("pass"), "--lr", "1").stderr
    )
    assert "no size such as 80GiB" in machine.estimate("train.py", "--device", "big").stderr
    done = machine.estimate("train.py")
    assert done.returncode == 1
    assert "the program used no device; nothing was estimated" in done.stderr


def test_without_torch_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("pass")
    (tmp_path / "oomscope").write_text("#!/bin/sh\n")
    (tmp_path / "oomscope").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "PATH": path}
    command = [sys.executable, "-m", "oomscope", "estimate", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this needs torch, which cannot be imported" in done.stderr


def test_tensors_of_the_cpu_are_told_apart(machine: Machine) -> None:
    program = machine.program(
        """
import torch
here, there = torch.randn(3, 4, device="cuda"), torch.randn(3, 4)
for wrong in (lambda: here + there, lambda: here @ there.t(), lambda: torch.cat([here, there])):
    try:
        wrong()
    except RuntimeError as error:
        assert "found at least two devices" in str(error)
    else:
        raise AssertionError("it should have failed")
assert here[torch.tensor([0, 1])].is_cuda and (here * torch.tensor(2.0)).is_cuda
assert torch.randn(3, generator=torch.Generator("cuda").manual_seed(0), device="cuda").is_cuda
scores = torch.randn(10, 2, 5, device="cuda").log_softmax(-1)
lengths = torch.tensor([10, 10]), torch.tensor([4, 3])
assert torch.nn.functional.ctc_loss(scores, torch.randint(1, 5, (2, 4)), *lengths).is_cuda
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
for bidirectional in (False, True):
    network = torch.nn.GRU(8, 16, 2, batch_first=True, bidirectional=bidirectional).cuda()
    texts = torch.randn(3, 7, 8, device="cuda")
    packed = pack_padded_sequence(texts, torch.tensor([7, 2, 5]), batch_first=True, enforce_sorted=False)
    out, last = network(packed)
    assert pad_packed_sequence(out, batch_first=True)[0].shape == (3, 7, 16 * (1 + bidirectional))
    assert last.shape == (2 * (1 + bidirectional), 3, 16)
@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.relu(x) * 2
assert doubled(here).is_cuda and torch.compile(doubled)(here).is_cuda
import copy
clone = copy.deepcopy(here)
assert clone.is_cuda and clone.data_ptr() != here.data_ptr()
print("all is well")
"""
    )
    done = machine.estimate(program)
    assert "all is well" in done.stdout, done.stdout + done.stderr


def test_a_notebook_is_a_program(machine: Machine) -> None:
    cells = [
        ("markdown", "# Train"),
        ("code", "%matplotlib inline\n!pip install torch\nimport torch"),
        ("code", "torch.backends.cudnn.enabled = False\nmodel = torch.nn.Linear(512, 512).cuda()\n"),
        (
            "code",
            "for step in range(3):\n    loss = model(torch.randn(8, 512).cuda()).sum()\n    loss.backward()\n",
        ),
        ("code", "unknown_name"),
    ]
    text = json.dumps({"cells": [{"cell_type": kind, "source": source} for kind, source in cells]})
    done = machine.estimate(machine.program(text, "train.ipynb"))
    assert done.returncode == 1
    assert "train.ipynb[4].py:1: NameError: name 'unknown_name' is not defined" in done.stdout
    report = [str(PROGRAM), "report", str(machine.directory / "snapshots" / "estimate.pickle")]
    assert "train.ipynb[2].py:2" in subprocess.run(report, capture_output=True, text=True, check=True).stdout


def test_a_program_that_gives_up(machine: Machine) -> None:
    program = machine.program("import sys, torch\nx = torch.zeros(9, device='cuda')\nsys.exit('no data')\n")
    done = machine.estimate(program)
    assert done.returncode == 1
    assert "At least: the program ended with 'no data' after 0 steps" in done.stdout


OLD = """
import sys

import numpy as np
import torch
from torch import nn

Tensor = torch.cuda.FloatTensor
model = nn.DataParallel(nn.Linear(64, 1 << 20)).cuda()
for _ in range(int(sys.argv[1])):
    batch = Tensor(np.random.random((32, 64))).type(Tensor)
    assert isinstance(batch, Tensor) and batch.type() == "torch.cuda.FloatTensor"
    assert Tensor(3, 4).shape == (3, 4) and not batch.type(torch.FloatTensor).is_cuda
    model.zero_grad()
    model(batch).mean().backward()
    for parameter in model.parameters():
        parameter.data.add_(parameter.grad.data, alpha=-0.1)
torch.set_default_tensor_type("torch.cuda.FloatTensor")
assert torch.zeros(3).is_cuda
print("requested", torch.cuda.memory_stats()["requested_bytes.all.peak"])
"""


def test_an_old_program_that_steps_by_itself(machine: Machine) -> None:
    train = machine.program(OLD)
    real = machine.run(train, "3", devices=1)
    assert real.returncode == 0, real.stderr
    ended = machine.estimate(train, "--", "1000000")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "At least" not in ended.stdout
    assert is_alike(machine.stats()["peak"]["active"], int(real.stdout.split("requested ")[1]))


FLEX = """
import sys
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
attend = torch.compile(flex_attention) if "compiled" in sys.argv else flex_attention
tensors = [torch.randn(2, 4, 1024, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 1024, 1024, device="cuda")
torch.cuda.reset_peak_memory_stats()
attend(*tensors, block_mask=mask).sum().backward()
print("peak", torch.cuda.max_memory_allocated())
"""


def test_flex_attention_keeps_scores_only_where_nothing_is_compiled(machine: Machine) -> None:
    program = machine.program(FLEX)
    real = machine.run(program, devices=1)
    if real.returncode:
        pytest.skip(f"this torch has no flex_attention that runs: {real.stderr.splitlines()[-1]}")
    done = machine.estimate(program)
    if "peak" not in done.stdout:
        pytest.skip(f"not estimated with this torch: {done.stdout.splitlines()[0]}")
    found, predicted = (int(one.stdout.split("peak ")[1].splitlines()[0].split()[0]) for one in (real, done))
    assert is_alike(predicted, found)
    compiled = machine.estimate(program, "--", "compiled")
    fused = int(compiled.stdout.split("peak ")[1].splitlines()[0])
    # Queries, keys and values with their gradients, and the result.
    assert 7 * 2 * 4 * 1024 * 64 * 2 <= fused < predicted / 10, compiled.stdout


EXPERTS = """
import sys
import torch
from torch import nn
router = nn.Linear(256, 8).cuda()
experts = nn.ModuleList(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(8)).cuda()
for _ in range(2):
    x = torch.randn(32768, 256, device="cuda")
    chosen = router(x).topk(1).indices[:, 0]
    y = torch.zeros_like(x)
    for number, expert in enumerate(experts):
        rows = torch.where(chosen == number)[0] if "routed" in sys.argv else slice(number * 4096, number * 4096 + 4096)
        y[rows] += expert(x[rows])
    y.sum().backward()
"""


def test_stand_ins_that_decide_widen_the_range(machine: Machine) -> None:
    """All tokens to one expert is what they may decide; the program runs a second time for that."""
    program = machine.program(EXPERTS)
    errors = []
    for arguments in (["--", "plain"], ["--once", "--", "routed"], ["--", "routed"]):
        done = machine.estimate(program, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        file = machine.directory / "snapshots" / "estimate.pickle"
        command = [str(PROGRAM), "report", "--format", "json", str(file)]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        (needs,) = report["predicted"]["needs"]
        errors.append(needs["error_share"])
    assert errors[:2] == [0.03, 0.03] and 0.1 < errors[2] <= 1
