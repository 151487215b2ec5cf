"""Tensors that are held in many ways; what the census says of who holds each, against what is written beside it."""

import asyncio
import collections
import contextvars
import functools
import gc
import json

import torch
from oomscope._census import census

kept_globally = None
context = contextvars.ContextVar("context")
queue = collections.deque()
expected = {}
unpacked = []


def tensor(size, holder):
    """A tensor whose size says which one it is."""
    expected[size] = holder
    return torch.empty(size, device="cuda")


class Bank:
    __slots__ = ("slot",)


class Trainer:
    def __init__(self):
        self.history = [tensor(1000 + at, ["self.history", "fit"]) for at in range(3)]
        self.outputs = {"logits": tensor(2000, ['self.outputs["logits"]', "fit"])}
        self.caches = {at: tensor(3000 + at, ["self.caches", "fit"]) for at in range(2)}
        self.bank = Bank()
        self.bank.slot = tensor(4000, ["self.bank.slot", "fit"])

    def fit(self):
        closure = make_closure()
        lazily = generate()
        next(lazily)
        losses = []
        weight = torch.ones(64, 64, device="cuda", requires_grad=True)
        for _ in range(3):
            losses.append((torch.relu(weight @ weight) ** 2).sum())
        # What a hook has packed is not unpacked: that would run the program.
        with torch.autograd.graph.saved_tensors_hooks(lambda packed: packed, unpacked.append):
            losses.append((torch.relu(weight @ weight) ** 2).sum())
        tail = None
        for size in (7301, 7302, 7303, 7304):
            tail = Node(tail, size)
        expected[7303], expected[7304] = ["tail.parent.state", "fit"], ["tail.state", "fit"]
        layers = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Identity())
        # No function of that name that is built in.
        layers.eval()
        layers[1].cache = [tensor(7400, ["layers[1].cache", "fit"])]
        waiting = waits()
        waiting.send(None)
        return look(self, closure, lazily, losses, tail, layers, waiting)


def make_closure():
    hidden = tensor(5000, ["closure → `hidden` of inner", "fit"])

    def inner():
        return hidden

    return inner


def generate():
    state = tensor(6000, ["lazily → `state` in generate", "fit"])
    yield state


@functools.lru_cache
def cached(size):
    return tensor(size, ["cached (lru_cache)", "<module>"])


def fails():
    activation = tensor(8000, ["last_error → its traceback → `activation` in fails", "<module>"])
    raise ValueError(activation.shape)


class Table:
    rows = None

    @functools.lru_cache  # noqa: B019
    def cached_row(self, size):
        return tensor(size, ["Table.cached_row (lru_cache)", "<module>"])


class Node:
    def __init__(self, parent, size):
        self.parent, self.state = parent, tensor(size, ["tail.parent.parent.state", "fit"])


async def waits():
    collected = [tensor(7500, ["waiting → `collected` in waits", "fit"])]
    await asyncio.sleep(0 * len(collected))


def look(*_):
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    gc.disable()
    found = json.loads(census(torch, holders_s=30.0))
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
    assert unpacked == []
    assert found["complete"] and found["holders_complete"]
    text, columns = [*found["texts"], None], found["tensors"]
    said, saved = {}, collections.Counter()
    for at, holder in enumerate(columns["holder"]):
        who = [text[found["holders"][key][holder]] for key in ("variable", "function")]
        name = who if holder >= 0 else None
        if text[columns["role"][at]] == "saved":
            saved[json.dumps(name)] += 1
        else:
            said[columns["bytes"][at] // 4] = name
    said = {size: said[size] for size in expected}
    wrong = {size: [said[size], expected[size]] for size in expected if said[size] != expected[size]}
    print(json.dumps({"wrong": wrong, "right": len(expected) - len(wrong), "saved": saved}))


kept_globally = tensor(9000, ["kept_globally", "<module>"])
queue.extend(tensor(9100 + at, ["queue", "<module>"]) for at in range(3))
cached(7000)
Table().cached_row(7100)
context.set([tensor(7200, ["context", "<module>"])])
last_error = None
try:
    fails()
except ValueError as error:
    last_error = error
Trainer().fit()
