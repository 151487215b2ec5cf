"""One process of a job of many, estimated without a device and without the others."""

from __future__ import annotations

import pytest
from test_estimate import WORKSPACE, Machine, is_alike, machine

__all__ = ["machine"]

RANKS = """
import os, sys
import torch
import torch.distributed as dist
from torch import nn

torch.backends.cudnn.enabled = False
if "stand-in" in torch.cuda.get_device_name():
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
else:
    dist.init_process_group("nccl")
assert (dist.get_rank(), dist.get_world_size()) == (0, 4)
layers = [nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(4)]
model = nn.Sequential(*layers).cuda()
kind = sys.argv[1]
if kind == "ddp":
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
elif kind == "fsdp":
    from torch.distributed.fsdp import FullyShardedDataParallel
    model = FullyShardedDataParallel(model)
elif kind == "fully_shard":
    from torch.distributed.fsdp import fully_shard
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
elif kind == "tensor_parallel":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cuda", (4,))
    for layer in model:
        parallelize_module(layer, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    model(torch.randn(64, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated())
"""


@pytest.mark.parametrize("kind", ["fsdp", "fully_shard", "tensor_parallel"])
def test_the_share_of_a_rank(machine: Machine, kind: str) -> None:
    program = machine.program(RANKS)
    real = machine.run(program, kind, devices=1)
    if real.returncode:
        pytest.skip(f"this torch cannot run {kind} without other ranks: {real.stderr.splitlines()[-1]}")
    done = machine.estimate(program, "--ranks", "4", "--steps", "9", "--", kind)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    peaks = [
        int(line.split()[1]) for line in (real.stdout + done.stdout).splitlines() if line.startswith("peak")
    ]
    assert is_alike(peaks[1], peaks[0])


def test_the_buckets_of_data_parallel_training(machine: Machine) -> None:
    """As many bytes as all gradients, once: nobody sends anything."""
    done = machine.estimate(machine.program(RANKS), "--ranks", "4", "--steps", "9", "--", "ddp")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    parameters = 4 * 4 * (512 * 2048 + 2048 + 2048 * 512 + 512)
    # Parameters, gradients in buckets, two states, and what the optimizer takes meanwhile.
    peak = machine.stats()["peak"]["allocated"]
    assert 4 * parameters < peak < 7 * parameters + 2 * WORKSPACE


PIPELINE = """
import os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

asked = int(sys.argv[1])
if "stand-in" in torch.cuda.get_device_name():
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", store=FakeStore(), rank=asked, world_size=4)
else:
    dist.init_process_group("nccl")
rank = dist.get_rank()
assert rank == asked == int(os.environ.get("RANK", asked))
width, words = 512, 20000
first = [nn.Embedding(words, width)] if rank == 0 else []
last = [nn.Linear(width, words)] if rank == 3 else []
layers = [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(2)]
part = nn.Sequential(*first, *layers, *last).cuda()

def between(size):
    return torch.zeros(2, 64, size, device="cuda", requires_grad=True)

before = torch.zeros(2, 64, dtype=torch.long, device="cuda") if rank == 0 else between(width)
after = between(words if rank == 3 else width)
stage = PipelineStage(part, rank, 4, torch.device("cuda", 0), input_args=(before,), output_args=(after,))
schedule = Schedule1F1B(stage, 8, loss_fn=lambda y, t: nn.functional.cross_entropy(y.flatten(0, 1), t.flatten()))
optimizer = torch.optim.AdamW(part.parameters())
for step in range(2):
    tokens = torch.randint(0, words, (16, 64), device="cuda")
    schedule.step(*[tokens] if rank == 0 else [], **{"target": tokens} if rank == 3 else {})
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated())
"""


def test_stages_of_a_pipeline_differ(machine: Machine) -> None:
    program = machine.program(PIPELINE)
    peaks = []
    for rank in ("0", "1", "3"):
        real = machine.run(program, rank, devices=1)
        if real.returncode:
            pytest.skip(f"this torch runs no pipeline without other ranks: {real.stderr.splitlines()[-1]}")
        done = machine.estimate(program, "--ranks", "4", "--rank", rank, "--steps", "9", "--", rank)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [line for line in (real.stdout + done.stdout).splitlines() if line.startswith("peak")]
        found, predicted = (int(line.split()[1]) for line in lines)
        assert is_alike(predicted, found)
        peaks.append(predicted)
    assert peaks[1] < peaks[0] < peaks[2]


def test_objects_come_from_ranks_like_this_one(machine: Machine) -> None:
    program = machine.program(
        """
import torch.distributed as dist, torch
torch.ones(1, device="cuda")
dist.init_process_group("nccl")
every, one, mine = [None] * 3, ["run-7"], [None]
dist.all_gather_object(every, obj={"rank": dist.get_rank()})
dist.gather_object("x", object_gather_list=every[:1])
dist.broadcast_object_list(one, src=2)
dist.scatter_object_list(mine, ["a", "b", "c"])
dist.barrier()
print(every == [{"rank": 2}] * 3, one, mine, dist.get_world_size())
dist.broadcast_object_list(one, src=0)
"""
    )
    done = machine.estimate(program, "--ranks", "3", "--rank", "2")
    assert "True ['run-7'] ['c'] 3" in done.stdout, done.stdout + done.stderr
    assert "objects of rank 0 are not known to rank 2: estimate with --rank 0" in done.stdout
    assert "there is no rank 3 of 3" in machine.estimate(program, "--ranks", "3", "--rank", "3").stderr
