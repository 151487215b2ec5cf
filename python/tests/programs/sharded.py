"""A model that FSDP2 shards over four ranks, of which the other three are made up; what the census says of its shards."""

import json

import torch
import torch.distributed as dist
from oomscope._census import census
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
for part in (model[0], model[2], model):
    fully_shard(part)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.zeros(8, 256, device="cuda")).sum().backward()
    optimizer.step()
found = json.loads(census(torch))
text, columns, shapes = [*found["texts"], None], found["tensors"], found["shapes"]
rows = []
for at, role in enumerate(columns["role"]):
    whole = shapes[columns["whole"][at]] if columns["whole"][at] >= 0 else None
    rows.append([text[role], text[columns["name"][at]], shapes[columns["shape"][at]], whole])
print(json.dumps(rows))
dist.destroy_process_group()
