"""A small GPT, its average and an optimizer; what the census says, against what the program itself says."""

import copy
import gc
import json
import time
import weakref

import gpt
import torch
from oomscope._census import census
from torch import nn


class Net(gpt.GPT):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(256)

    def __getattr__(self, name):
        if name == "trap":
            raise RuntimeError("an attribute of the program")
        return super().__getattr__(name)


def truth(model, average, optimizer):
    said = {}
    for owner, net in (("Net", model), ("Net", average)):
        for name, tensor in net.named_parameters():
            said[tensor.data_ptr()] = ["parameter", name, owner]
            if tensor.grad is not None:
                said[tensor.grad.data_ptr()] = ["gradient", name, owner]
        for name, tensor in net.named_buffers():
            said[tensor.data_ptr()] = ["buffer", name, owner]
    names = {parameter: name for name, parameter in model.named_parameters()}
    for parameter, state in optimizer.state.items():
        for tensor in state.values():
            if torch.is_tensor(tensor) and tensor.is_cuda:
                said[tensor.data_ptr()] = ["optimizer_state", names[parameter], "AdamW"]
    return said


def main():
    model = Net().cuda()
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.zeros(8, 256, dtype=torch.long, device="cuda")
    gpt.train_step(model, optimizer, tokens)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens).float().mean()
    loss.backward()
    many = [torch.empty(1, device="cuda") for _ in range(1000)]
    passing = torch.empty(1, device="cuda")
    gone = weakref.ref(passing)
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    gc.disable()
    start = time.perf_counter()
    with torch.inference_mode():
        found = json.loads(census(torch))
    taken_s = time.perf_counter() - start
    del passing
    assert gone() is None, "the census kept a tensor"
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before, "it allocated"
    assert found["complete"]
    text, columns = [*found["texts"], None], found["tensors"]
    said = {}
    for at, role in enumerate(columns["role"]):
        if role >= 0:
            owner = text[found["owners"]["class"][columns["owner"][at]]]
            said[columns["address"][at]] = [text[role], text[columns["name"][at]], owner]
    expected = truth(model, average, optimizer)
    print(
        json.dumps({"same": said == expected, "named": len(said), "all": len(columns["role"]), "s": taken_s})
    )
    del many


main()
