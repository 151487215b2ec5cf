"""Dilated causal convolutions over sound, gated, with skip connections that are added up."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class ResidualLayer(nn.Module):
    def __init__(self, channels, skip, dilation):
        super().__init__()
        self.pad = dilation
        self.dilated = nn.Conv1d(channels, 2 * channels, 2, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip, 1)

    def forward(self, x):
        a, b = self.dilated(F.pad(x, (self.pad, 0))).chunk(2, dim=1)
        h = torch.tanh(a) * torch.sigmoid(b)
        return x + self.residual(h), self.skip(h)


class WaveNet(nn.Module):
    def __init__(self, levels=256, channels=64, skip=128, cycles=2, depth=8):
        super().__init__()
        self.first = nn.Embedding(levels, channels)
        self.layers = nn.ModuleList(
            ResidualLayer(channels, skip, 2**d) for _ in range(cycles) for d in range(depth)
        )
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, levels, 1))

    def forward(self, codes):
        x, total = self.first(codes).transpose(1, 2), 0
        for i, layer in enumerate(self.layers):
            if chosen(options.checkpoint, i):
                x, s = checkpoint(layer, x, use_reentrant=False)
            else:
                x, s = layer(x)
            total = total + s
        return self.last(total)


model = WaveNet().cuda().to(precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)
for it in range(options.steps):
    step(it)
    for _ in range(options.accumulate):
        sound = torch.randint(256, (options.batch, 8001)).cuda()
        with autocast(options):
            loss = F.cross_entropy(model(sound[:, :-1]), sound[:, 1:])
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, blocks=model.layers, attention="")
done()
