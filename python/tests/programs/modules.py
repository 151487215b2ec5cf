"""A model whose modules are written with each allocation; what the file says of them against what they are."""

import collections
import json
import pickle
import sys
import time

import oomscope
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x + self.scale * self.mlp(self.norm(x))


class Model(nn.Module):
    def __init__(self, width=512, depth=4):
        super().__init__()
        self.stem = nn.Linear(width, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, width)

    def forward(self, x):
        x = self.stem(x)
        for at, block in enumerate(self.blocks):
            x = checkpoint(block, x, use_reentrant=False) if at == 1 else block(x)
        return self.head(x)


def main():
    recording = oomscope.record(
        "out", verdict=False, modules="plain" not in sys.argv, at_end=False, stacks="python"
    )
    model = Model().cuda()
    optimizer = torch.optim.SGD(model.parameters())
    began = time.perf_counter()
    for _ in range(int(sys.argv[1]) if sys.argv[1:] else 3):
        recording.step()
        optimizer.zero_grad()
        loss = model(torch.zeros(256, 512, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
    took = time.perf_counter() - began
    if "plain" in sys.argv:
        print(json.dumps({"s": took}))
        return
    assert torch.cuda.memory._get_memory_metadata() == f'{{"step":{int(sys.argv[1]) if sys.argv[1:] else 3}}}'
    (path,) = [recording.snapshot()]
    events = pickle.loads(path.read_bytes())["device_traces"][0]
    said = {}
    for event in events:
        if event["action"] == "alloc":
            text = event["user_metadata"]
            said[event["addr"]] = json.loads(text).get("module") if text else None
    right, wrong = 0, []
    for name, parameter in model.named_parameters():
        module = name.rpartition(".")[0]
        found = said[parameter.grad.data_ptr()]
        right += found == module
        wrong += [] if found == module else [[name, found]]
    notes = {
        event["addr"]: json.loads(event["user_metadata"]) for event in events if event["action"] == "annotate"
    }
    for name, parameter in model.named_parameters():
        said_of_it = {"module": name.rpartition(".")[0], "category": "parameter"}
        assert notes.pop(parameter.data_ptr()) == said_of_it, name
    assert not notes
    made = collections.Counter(
        json.loads(event["user_metadata"]).get("module")
        for event in events
        if event["action"] == "alloc" and event["user_metadata"]
    )
    late = model(torch.zeros(256, 512, device="cuda")).square().mean()
    recording.stop()
    late.backward()
    assert torch.cuda.memory._get_memory_metadata() == ""
    assert not torch.nn.modules.module._global_forward_hooks
    print(json.dumps({"right": right, "wrong": wrong, "s": took, "made": made}))


main()
