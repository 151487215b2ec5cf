"""An MLP-mixer by hand, trained by functions; validation after each epoch."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class MlpBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class MixerLayer(nn.Module):
    def __init__(self, tokens, channels):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.token_mixing = MlpBlock(tokens, tokens * 2)
        self.channel_mixing = MlpBlock(channels, channels * 4)

    def forward(self, x):
        y = self.token_mixing(self.ln1(x).transpose(1, 2)).transpose(1, 2)
        x = x + y
        return x + self.channel_mixing(self.ln2(x))


class Mixer(nn.Module):
    def __init__(self, channels=512, depth=10):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 16, 16)
        self.layers = nn.ModuleList([MixerLayer(196, channels) for _ in range(depth)])
        self.head = nn.Linear(channels, 1000)

    def forward(self, x):
        x = self.stem(x).flatten(2).mT
        for i, layer in enumerate(self.layers):
            saves = chosen(options.checkpoint, i)
            x = checkpoint(layer, x, use_reentrant=False) if saves else layer(x)
        return self.head(x.mean(1))


def batch(n):
    return torch.rand(n, 3, 224, 224).to("cuda", precision(options)), torch.randint(1000, (n,)).cuda()


def train(model, opt):
    model.train()
    for _ in range(options.accumulate):
        x, y = batch(options.batch)
        with autocast(options):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=options.zero != "fill")


def validate(model):
    model.eval()
    correct = 0
    for _ in range(2):
        x, y = batch(options.evaluation_batch or options.batch)
        with autocast(options):
            out = model(x)
        correct += (out.argmax(-1) == y).sum().item()
    return correct


model = Mixer().to("cuda", precision(options))
opt = make_optimizer(model.parameters(), options.optimizer)
for epoch in range(options.steps):
    step(epoch)
    train(model, opt)
    if options.evaluate:
        with torch.set_grad_enabled(options.evaluate == "graph"):
            validate(model)

declare(model=model, blocks=model.layers, attention="")
done()
