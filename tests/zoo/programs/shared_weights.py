"""One block that is applied eight times, as in ALBERT; input and output embeddings are shared, too."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint

TIMES = 8


class SharedBlock(nn.Module):
    def __init__(self, dim=768, heads=12):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, dim * 4), nn.Linear(dim * 4, dim)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = (
            p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.norm1(x)).split(c, dim=2)
        )
        if options.attention == "sdpa":
            a = F.scaled_dot_product_attention(q, k, v)
        else:
            a = torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1) @ v
        x = x + self.out(a.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, vocabulary=20000, dim=768):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.block = SharedBlock(dim)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, ids, labels=None):
        x = self.embed(ids)
        for i in range(TIMES):
            if chosen(options.checkpoint, i):
                x = checkpoint(self.block, x, use_reentrant=False)
            else:
                x = self.block(x)
        logits = F.linear(x, self.embed.weight, self.bias)
        return (
            logits if labels is None else F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))
        )


model = Model().to("cuda", precision(options)).train()
opt = make_optimizer(model.parameters(), options.optimizer, 3e-4)
for i in range(options.steps):
    step(i)
    for j in range(options.accumulate):
        ids = torch.randint(20000, (options.batch, 512)).cuda(non_blocking=True)
        with autocast(options):
            loss = model(ids, labels=ids)
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, block_count=TIMES, attention="fused" if options.attention == "sdpa" else "written")
done()
