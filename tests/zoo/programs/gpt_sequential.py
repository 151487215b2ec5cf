"""A GPT whose blocks are an nn.Sequential, in functions of a script with a main."""

import torch
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=False)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if options.attention == "sdpa":
            out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        else:
            wei = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
            wei = wei.masked_fill(torch.ones_like(wei[0, 0]).tril() == 0, float("-inf"))
            out = self.drop(F.softmax(wei, dim=-1)) @ v
        return self.proj(out.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim), nn.Dropout(0.1))

    def forward(self, x):
        return self.net(x)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.sa = SelfAttention(dim, heads)
        self.ffwd = FeedForward(dim)
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)

    def inner(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.ffwd(self.ln2(x))

    def forward(self, x):
        return (
            checkpoint(self.inner, x, use_reentrant=False) if getattr(self, "saves", False) else self.inner(x)
        )


class BigramLanguageModel(nn.Module):
    def __init__(self, vocab, dim=512, heads=8, layers=10, length=256):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocab, dim)
        self.position_embedding_table = nn.Embedding(length, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, idx, targets):
        tok = self.token_embedding_table(idx)
        pos = self.position_embedding_table(torch.arange(idx.shape[1], device=idx.device))
        logits = self.lm_head(self.ln_f(self.blocks(tok + pos)))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def estimate_loss(model):
    model.eval()
    losses = torch.zeros(2)
    for k in range(2):
        losses[k] = model(*get_batch(options.evaluation_batch or options.batch)).item()
    model.train()
    return losses.mean()


def get_batch(n):
    data = torch.randint(0, 8192, (n, 257))
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    return x.to("cuda"), y.to("cuda")


def main():
    model = BigramLanguageModel(8192)
    for i, block in enumerate(model.blocks):
        block.saves = chosen(options.checkpoint, i)
    m = model.to("cuda", precision(options))
    optimizer = make_optimizer(m.parameters(), options.optimizer)
    for iteration in range(options.steps):
        step(iteration)
        if options.evaluate and iteration % 2 == 0:
            estimate_loss(model)
        optimizer.zero_grad(set_to_none=True)
        for _ in range(options.accumulate):
            xb, yb = get_batch(options.batch)
            with autocast(options):
                loss = model(xb, yb)
            loss.backward()
        optimizer.step()
    declare(model=model, blocks=model.blocks, attention="fused" if options.attention == "sdpa" else "written")
    done()


main()
