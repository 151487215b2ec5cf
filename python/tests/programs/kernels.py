"""Operators one after the other, for `test_estimate_kernels.py`: `kernels.py real|estimate OUT`.

Prints nothing; writes, for each case, what was asked of the allocator: sizes rounded as it rounds them, and the peak.
"""

import json
import sys

import torch
import torch.nn.functional as F
from torch import nn

MARK = 3_000_000_000
ROUND = 512


def tensor(*sizes, dtype=torch.float32, grad=True):
    return torch.empty(*sizes, dtype=dtype, device="cuda", requires_grad=grad)


def places(*sizes, most=10):
    return torch.randint(0, most, sizes, device="cuda")


def back(result):
    result.backward(torch.empty_like(result))


def attend(
    dtype, heads=4, keys=4, queries=128, width=64, mask=None, dropout=0.0, causal=False, is_turned=False
):
    def make(count):
        if is_turned:
            return tensor(2, queries, count, width, dtype=dtype).transpose(1, 2)
        return tensor(2, count, queries, width, dtype=dtype)

    query, key, value = make(heads), make(keys), make(keys)
    more = {} if heads == keys else {"enable_gqa": True}
    back(F.scaled_dot_product_attention(query, key, value, mask, dropout, causal, **more))


def train(optimizer, **more):
    model = nn.Sequential(nn.Linear(512, 1000), nn.GELU(), nn.LayerNorm(1000), nn.Linear(1000, 10)).to("cuda")
    steps = optimizer(model.parameters(), lr=0.01, **more)
    for _ in range(2):
        model(tensor(16, 512, grad=False)).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
        steps.zero_grad()


def residual():
    stream = tensor(64, 100)
    for _ in range(3):
        stream = stream + torch.tanh(stream)
    back(stream)


def cases():
    half = torch.bfloat16
    for name, dtype in (("f32", torch.float32), ("bf16", half)):
        made = {
            "mm": lambda t: back(t(64, 32) @ t(32, 16)),
            "mm-column": lambda t: back(t(64, 32) @ t(32, 1)),
            "linear": lambda t: back(F.linear(t(8, 128, 64), t(32, 64), t(32))),
            "linear-rows": lambda t: back(F.linear(t(1024, 1024), t(2048, 1024), t(2048))),
            "linear-turned": lambda t: back(F.linear(t(8, 4, 64).transpose(0, 1), t(32, 64), t(32))),
            "addmm": lambda t: back(torch.addmm(t(8, 32), t(8, 16), t(16, 32))),
            "addmm-column": lambda t: back(torch.addmm(t(8, 1), t(8, 16), t(16, 32))),
            "bmm": lambda t: back(torch.bmm(t(3, 16, 8), t(3, 24, 8).mT)),
            "baddbmm": lambda t: back(torch.baddbmm(t(3, 16, 24), t(3, 16, 8), t(3, 8, 24))),
            "mv": lambda t: back(torch.mv(t(16, 8), t(8))),
            "sum": lambda t: t(8192, 1024, grad=False).sum(0),
            "sum-all": lambda t: t(1 << 20, grad=False).sum(),
            "mean": lambda t: back(t(512, 3000).mean()),
            "norm": lambda t: torch.linalg.vector_norm(t(1 << 20, grad=False)),
            "amax": lambda t: t(100_000, 8, grad=False).amax(0),
            "argmax": lambda t: t(64, 100_000, grad=False).argmax(1),
            "var_mean": lambda t: torch.var_mean(t(8192, 64, grad=False), 0),
            "softmax": lambda t: back(F.softmax(t(512, 1000), -1)),
            "log_softmax": lambda t: back(F.log_softmax(t(512, 1000), -1)),
            "cross_entropy": lambda t: F.cross_entropy(t(512, 1000), places(512)).backward(),
            "cross_entropy-smooth": lambda t: F.cross_entropy(
                t(512, 100), places(512), label_smoothing=0.1
            ).backward(),
            "mse": lambda t: F.mse_loss(t(512, 1000), t(512, 1000, grad=False)).backward(),
            "huber": lambda t: F.huber_loss(t(512, 1000), t(512, 1000, grad=False)).backward(),
            "layer_norm": lambda t: back(F.layer_norm(t(512, 1000), (1000,), t(1000), t(1000))),
            "group_norm": lambda t: back(F.group_norm(t(16, 64, 14, 14), 4, t(64), t(64))),
            "batch_norm": lambda t: back(F.batch_norm(t(16, 64, 14, 14), None, None, t(64), t(64), True)),
            "dropout": lambda t: back(F.dropout(t(512, 1000), 0.1)),
            "gelu": lambda t: back(F.gelu(t(512, 1000))),
            "silu": lambda t: back(F.silu(t(512, 1000))),
            "logsigmoid": lambda t: back(F.logsigmoid(t(512, 1000))),
            "embedding-few": lambda t: back(F.embedding(places(64), t(100, 16))),
            "embedding": lambda t: back(F.embedding(places(4, 1024), t(50_000, 64))),
            "index": lambda t: back(t(1000, 64)[places(500)]),
            "gather": lambda t: back(t(1000, 64).gather(1, places(1000, 20))),
            "scatter_add": lambda t: back(torch.scatter_add(t(100, 64), 0, places(100, 64), t(100, 64))),
            "topk": lambda t: back(t(64, 1000).topk(5)[0]),
            "sort": lambda t: back(t(512, 1000).sort()[0]),
            "cat": lambda t: back(torch.cat([t(100, 64), t(50, 64)])),
            "where": lambda t: back(torch.where(places(100, 64) > 3, t(100, 64), t(100, 64))),
            "conv": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(16, 8, 3, 3), t(16))),
            "conv-one": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(16, 8, 1, 1), t(16))),
            "conv-depthwise": lambda t: back(F.conv2d(t(4, 8, 20, 20), t(8, 1, 3, 3), t(8), groups=8)),
            "conv-transposed": lambda t: back(F.conv_transpose2d(t(4, 8, 20, 20), t(8, 16, 3, 3), t(16), 2)),
            "unfold": lambda t: back(F.unfold(t(4, 8, 20, 20), 3)),
            "interpolate": lambda t: back(F.interpolate(t(4, 8, 20, 20), scale_factor=2, mode="bilinear")),
            "one_hot": lambda t: F.one_hot(places(1000), 10),
        }
        for case, run in made.items():
            yield (
                f"{case}-{name}",
                lambda run=run, dtype=dtype: run(lambda *s, **k: tensor(*s, dtype=dtype, **k)),
            )
        for case, more in {
            "attention": {},
            "attention-causal": {"causal": True, "is_turned": True},
            "attention-dropout": {"dropout": 0.1},
            "attention-72": {"width": 72},
            "attention-256": {"width": 256},
            "attention-odd": {"width": 100, "queries": 77},
            "attention-math": {"width": 6},
            "attention-groups": {"keys": 2},
        }.items():
            if "keys" in more and tuple(map(int, torch.__version__.split(".")[:2])) < (2, 5):
                continue
            yield f"{case}-{name}", lambda more=more, dtype=dtype: attend(dtype, **more)
        masks = {"attention-mask": 128, "attention-mask-odd": 77}
        for case, count in masks.items():
            yield (
                f"{case}-{name}",
                lambda dtype=dtype, count=count: attend(
                    dtype, queries=count, mask=torch.ones(count, count, dtype=torch.bool, device="cuda")
                ),
            )
    yield "residual", residual
    for name in ("AdamW", "SGD", "RMSprop", "Adagrad"):
        yield name, lambda name=name: train(getattr(torch.optim, name))
    yield "AdamW-fused", lambda: train(torch.optim.AdamW, fused=True)
    yield "AdamW-loop", lambda: train(torch.optim.AdamW, foreach=False)
    yield "lstm", lambda: back(nn.LSTM(32, 64, 2).to("cuda")(tensor(7, 5, 32))[0])
    yield "gru", lambda: back(nn.GRU(32, 64).to("cuda")(tensor(7, 5, 32))[0])


def rounded(nbytes):
    return (nbytes + ROUND - 1) // ROUND * ROUND


def main():
    world, out = sys.argv[1:]
    engine = None
    if world == "real":
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(context=None, max_entries=10**7)
    else:
        from oomscope._estimate.engine import Engine
        from oomscope._estimate.gpus import find_gpu

        engine = Engine(find_gpu("H100"))
        engine.kernels.is_one_handle = True
        engine.start()
    torch.backends.cudnn.enabled = False
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)
    names = []
    for number, (name, run) in enumerate(cases()):
        # Where one case ends and the next begins.
        torch.empty(MARK + ROUND * number, dtype=torch.uint8, device="cuda")
        names.append(name)
        run()
    if engine is None:
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        events = [
            (one["action"] != "alloc", one["addr"], one["size"])
            for one in trace
            if one["action"] in ("alloc", "free_requested")
        ]
    else:
        engine.stop()
        from oomscope._estimate.storages import ALLOC, FREE

        requests = [one for one in engine.storages.requests if one.action in (ALLOC, FREE)]
        events = [(one.action == FREE, one.address, one.nbytes) for one in requests]
    found, current = {}, None
    for is_free, address, nbytes in events:
        if MARK - ROUND < nbytes:
            if not is_free:
                current = found.setdefault(
                    names[(nbytes - MARK + ROUND - 1) // ROUND], {"sizes": [], "peak": 0}
                )
                live, now = {}, 0
        elif is_free:
            now -= live.pop(address, 0)
        else:
            live[address] = rounded(nbytes)
            now += live[address]
            current["sizes"].append(live[address])
            current["peak"] = max(current["peak"], now)
    with open(out, "w") as file:
        json.dump(found, file)


main()
