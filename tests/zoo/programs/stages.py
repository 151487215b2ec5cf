"""A hierarchical transformer: stages of residual wrappers, with merging of patches between them."""

import torch
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fn = fn

    def forward(self, x):
        return self.fn(self.norm(x))


class Attend(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if options.attention == "sdpa":
            out = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            out = (q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5).softmax(dim=-1) @ v
        return self.to_out(out.transpose(1, 2).reshape(b, n, d))


def mlp(dim):
    return nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))


def block(dim, heads):
    return nn.Sequential(Residual(PreNorm(dim, Attend(dim, heads))), Residual(PreNorm(dim, mlp(dim))))


class Stage(nn.Module):
    def __init__(self, dim, depth, heads, merges):
        super().__init__()
        self.merge = nn.Linear(2 * dim, dim * 2) if merges else nn.Identity()
        self.blocks = nn.ModuleList([block(dim * 2 if merges else dim, heads) for _ in range(depth)])

    def forward(self, x):
        if not isinstance(self.merge, nn.Identity):
            b, n, d = x.shape
            x = self.merge(x.reshape(b, n // 2, 2 * d))
        for i, layer in enumerate(self.blocks):
            if chosen(options.checkpoint, i):
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return x


class Hierarchical(nn.Module):
    def __init__(self, dim=256, depths=(2, 2, 6, 2), classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 8, 8)
        dims = [dim, dim, 2 * dim, 4 * dim]
        self.stages = nn.Sequential(*[Stage(d, n, 8, i > 0) for i, (d, n) in enumerate(zip(dims, depths))])
        self.head = nn.Linear(dims[-1] * 2, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        return self.head(self.stages(x).mean(dim=1))


def fit(model, optimizer, criterion):
    for i in range(options.steps):
        step(i)
        for _ in range(options.accumulate):
            inputs = torch.rand(options.batch, 3, 224, 224).to("cuda", precision(options))
            classes = torch.randint(1000, (options.batch,)).to("cuda")
            with autocast(options):
                loss = criterion(model(inputs), classes)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


model = Hierarchical().to("cuda", precision(options))
fit(model, make_optimizer(model.parameters(), options.optimizer), nn.CrossEntropyLoss(label_smoothing=0.1))
blocks = [b for stage in model.stages for b in stage.blocks]
declare(model=model, blocks=blocks, attention="fused" if options.attention == "sdpa" else "written")
done()
