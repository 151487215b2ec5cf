"""A language model with rotary positions, gated feed-forward and attention beside it, built from a dataclass."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


@dataclass
class Args:
    dim: int = 1024
    n_layers: int = 7
    n_heads: int = 16
    vocab_size: int = 32000
    hidden: int = 2752
    max_len: int = 768


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(
            x
        ) * self.weight


def rotate(x, cos, sin):
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1).type_as(x)


class ParallelBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.heads = args.n_heads
        self.norm = RMSNorm(args.dim)
        self.wqkv = nn.Linear(args.dim, 3 * args.dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)
        self.w1 = nn.Linear(args.dim, args.hidden, bias=False)
        self.w2 = nn.Linear(args.hidden, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, args.hidden, bias=False)

    def attention(self, h, cos, sin):
        b, t, d = h.shape
        q, k, v = self.wqkv(h).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if options.attention == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / (d // self.heads) ** 0.5
            mask = torch.full((t, t), float("-inf"), device=h.device).triu_(1)
            y = F.softmax(scores.float() + mask, dim=-1).type_as(q) @ v
        return self.wo(y.transpose(1, 2).reshape(b, t, d))

    def forward(self, x, cos, sin):
        h = self.norm(x)
        return x + self.attention(h, cos, sin) + self.w2(F.silu(self.w1(h)) * self.w3(h))


class LM(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.layers = nn.ModuleList()
        for _ in range(args.n_layers):
            self.layers.append(ParallelBlock(args))
        self.norm = RMSNorm(args.dim)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        half = args.dim // args.n_heads // 2
        angles = torch.outer(torch.arange(args.max_len).float(), 1.0 / 10000 ** (torch.arange(half) / half))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for i, layer in enumerate(self.layers):
            if chosen(options.checkpoint, i):
                h = checkpoint(layer, h, self.cos, self.sin, use_reentrant=False)
            else:
                h = layer(h, self.cos, self.sin)
        return self.norm(h)


def compute(model, tokens):
    h, targets = model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()
    if not options.chunk_loss:
        return F.cross_entropy(model.output(h).float(), targets)
    total = 0.0
    for part, target in zip(h.chunk(8), targets.chunk(8)):
        total = total + checkpoint(lambda p, t: F.cross_entropy(model.output(p).float(), t, reduction="sum"), part, target,
                                   use_reentrant=False)  # fmt: skip
    return total / targets.numel()


def train():
    args = Args()
    with torch.device("cuda"):
        model = LM(args).to(precision(options))
    optimizer = make_optimizer(model.parameters(), options.optimizer)
    for number in range(options.steps):
        step(number)
        for micro in range(options.accumulate):
            tokens = torch.randint(0, args.vocab_size, (options.batch, args.max_len + 1), device="cuda")
            with autocast(options):
                loss = compute(model, tokens)
            loss.div(options.accumulate).backward()
            del loss
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=options.zero != "fill")
    declare(model=model, blocks=model.layers, attention="fused" if options.attention == "sdpa" else "written")


train()
done()
