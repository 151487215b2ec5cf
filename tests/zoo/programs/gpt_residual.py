"""A GPT as many write it: residual lines in the block, `mlp` a Sequential, a ModuleList of blocks."""

import math

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH, HEADS, LENGTH, VOCABULARY, LAYERS = 768, 12, 1024, 32000, options.size.get("layers", 8)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        if options.attention == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(c // HEADS)
            scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def hidden(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        for i, block in enumerate(self.blocks):
            if chosen(options.checkpoint, i):
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.norm(x)

    def forward(self, ids, targets):
        x = self.hidden(ids)
        if options.chunk_loss:
            parts = zip(x.flatten(0, 1).chunk(8), targets.flatten().chunk(8))
            return sum(checkpoint(self.part, h, t, use_reentrant=False) for h, t in parts) / targets.numel()
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())

    def part(self, hidden, targets):
        return F.cross_entropy(self.head(hidden), targets, reduction="sum")


model = GPT().to("cuda", precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)
for i in range(options.steps):
    step(i)
    for micro in range(options.accumulate):
        ids = torch.randint(0, VOCABULARY, (options.batch, LENGTH + 1)).cuda()
        with autocast(options):
            loss = model(ids[:, :-1], ids[:, 1:])
        (loss / options.accumulate).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(
    model=model,
    blocks=model.blocks,
    attention="fused" if options.attention == "sdpa" else "written",
    chunkable=True,
)
done()
