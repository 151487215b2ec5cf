import oomscope, torch
import torch.nn.functional as F
from torch import nn

def validate(model, batches):
    losses = []
    for _ in range(batches):
        x = torch.zeros(1024, 1024, device="cuda")
        loss = F.mse_loss(model(x), x)
        losses.append(loss)
    return losses

def main():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(4)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        x = torch.zeros(1024, 1024, device="cuda")
        F.mse_loss(model(x), x).backward()
        optimizer.step()
        optimizer.zero_grad()
    validate(model, 1000)

oomscope.record("out", verdict=False, stacks="python")
main()
