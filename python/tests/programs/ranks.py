"""Ranks that train alike, until one of them asks for more than there is while the others wait for its gradients."""

import sys

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.cuda.init()
model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(6):
    rows = 256
    if rank == 1 and step == 4:
        if "raise" in sys.argv:
            raise ValueError("a file of this rank is missing")
        rows = 2**22
    kept = model(torch.zeros(rows, 512, device="cuda"))
    kept.sum().backward()
    # In place of the gradients, which the stand-in of a device cannot add up.
    dist.all_reduce(torch.zeros(1))
    optimizer.step()
    optimizer.zero_grad()
print("done", rank)
