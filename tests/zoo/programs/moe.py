"""A language model with experts: each token goes to one of four, in a loop over them."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class Experts(nn.Module):
    def __init__(self, dim, number=4):
        super().__init__()
        self.router = nn.Linear(dim, number, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim)) for _ in range(number)
        )

    def forward(self, x):
        tokens = x.flatten(0, 1)
        gates = F.softmax(self.router(tokens), dim=-1)
        out = torch.zeros_like(tokens)
        # The share of each expert is fixed, so that memory does not depend on values.
        shares = torch.arange(len(tokens), device=tokens.device).chunk(len(self.experts))
        for i, (expert, taken) in enumerate(zip(self.experts, shares)):
            out = out.index_add(0, taken, (expert(tokens[taken]) * gates[taken, i : i + 1]).to(out.dtype))
        return out.view_as(x)


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.attn_norm, self.moe_norm = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.moe = Experts(dim)

    def attend(self, x):
        q, k, v = (w(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.attn_norm(x))
        x = x + self.moe(self.moe_norm(x))
        return x


class Model(nn.Module):
    def __init__(self, vocab=24000, dim=768, layers=6):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([DecoderLayer(dim, 12) for _ in range(layers)])
        self.norm = nn.RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.embed_tokens(ids)
        for i, layer in enumerate(self.layers):
            if chosen(options.checkpoint, i):
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return self.lm_head(self.norm(x))


model = Model().to("cuda", precision(options))
opt = make_optimizer(model.parameters(), options.optimizer)
for i in range(options.steps):
    step(i)
    for _ in range(options.accumulate):
        ids = torch.randint(24000, (options.batch, 512), device="cuda")
        with autocast(options):
            logits = model(ids)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, blocks=model.layers, attention="fused")
done()
