"""Makes the recordings beside it: python program.py NAME SETTINGS, with PYTORCH_CUDA_ALLOC_CONF=SETTINGS.

At four moments it writes down what torch.cuda.memory_stats() and memory_summary() say then, and the event after which that is. It needs a device of
about 1.2 GB, or one that stands in.
"""

import gzip, json, sys, torch
from torch import nn
import torch.nn.functional as F

out = sys.argv[1]
torch.cuda.memory._record_memory_history(max_entries=100000, context=None)
moments = []


def note(name):
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    moments.append(
        {
            "name": name,
            "event": len(trace) - 1,
            "stats": dict(torch.cuda.memory_stats()),
            "summary": torch.cuda.memory_summary(),
        }
    )


torch.manual_seed(0)
side = torch.cuda.Stream()


class Block(nn.Module):
    def __init__(s, w):
        super().__init__()
        s.a, s.b, s.n = nn.Linear(w, 3 * w), nn.Linear(3 * w, w), nn.LayerNorm(w)

    def forward(s, x):
        return x + s.b(F.gelu(s.a(s.n(x))))


model = nn.Sequential(nn.Linear(257, 384), *[Block(384) for _ in range(3)], nn.Linear(384, 101)).cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    n = [300, 700, 1100, 450][step] * 8
    x = torch.randn(n, 257, device="cuda")
    y = torch.randint(0, 101, (n,), device="cuda")
    with torch.cuda.stream(side):
        z = x * 2
    z.record_stream(torch.cuda.current_stream())
    loss = F.cross_entropy(model(z), y)
    del z
    if step == 1:
        note("forward")
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
    del x, y, loss
    if step == 2:
        torch.cuda.empty_cache()
        note("emptied")
kept = [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(6)]
del kept[::2]
try:
    big = []
    while True:
        big.append(torch.empty(90 << 20, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError:
    pass
note("oom")
del big
note("end")
torch.cuda.memory._dump_snapshot(out + ".pickle")
data = open(out + ".pickle", "rb").read()
gzip.GzipFile(out + ".pickle.gz", "wb", 9, mtime=0).write(data)
json.dump(
    {"conf": sys.argv[2], "torch": torch.__version__, "moments": moments}, open(out + ".stats.json", "w")
)
print(out, len(data), [m["event"] for m in moments])
