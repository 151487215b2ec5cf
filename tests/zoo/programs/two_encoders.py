"""Contrastive learning of two encoders: an image and its text."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, 8, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.proj(y)
        return x + self.mlp(self.n2(x))


class Tower(nn.Module):
    def __init__(self, stem, d, n, out=256):
        super().__init__()
        self.stem = stem
        self.layers = nn.ModuleList(Layer(d) for _ in range(n))
        self.out = nn.Linear(d, out, bias=False)

    def forward(self, x):
        x = self.stem(x)
        for i, layer in enumerate(self.layers):
            if chosen(options.checkpoint, i):
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return F.normalize(self.out(x.mean(1)), dim=-1)


class Patches(nn.Conv2d):
    def forward(self, x):
        return super().forward(x).flatten(2).transpose(1, 2)


images = Tower(Patches(3, 512, 16, 16), 512, 8).to("cuda", precision(options))
texts = Tower(nn.Embedding(30000, 384), 384, 6).to("cuda", precision(options))
both = nn.ModuleDict({"images": images, "texts": texts})
scale = nn.Parameter(torch.ones((), device="cuda", dtype=precision(options)))
optimizer = make_optimizer([*both.parameters(), scale], options.optimizer)
for i in range(options.steps):
    step(i)
    picture = torch.rand(options.batch, 3, 224, 224).to("cuda", precision(options))
    words = torch.randint(30000, (options.batch, 64)).cuda()
    with autocast(options):
        logits = scale.exp() * images(picture) @ texts(words).T
        target = torch.arange(len(logits), device=logits.device)
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

declare(model=both, blocks=[*images.layers, *texts.layers], attention="fused")
done()
