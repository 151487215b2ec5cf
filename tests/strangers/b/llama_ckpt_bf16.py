import argparse, math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(d))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return h.type_as(x) * self.weight


def precompute_freqs_cis(dim, end, theta=500000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
    return torch.polar(torch.ones(end, dim // 2), torch.outer(torch.arange(end).float(), freqs))


def apply_rotary_emb(xq, xk, fc):
    def rot(x):
        x_ = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(x_ * fc[None, :, None, :]).flatten(3).type_as(x)
    return rot(xq), rot(xk)


def repeat_kv(x, n):
    b, s, h, d = x.shape
    return x[:, :, :, None, :].expand(b, s, h, n, d).reshape(b, s, h * n, d)


class TransformerBlock(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.h, self.kv, self.d = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, heads * self.d, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.w1, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)

    def attention(self, x, fc):
        b, s, _ = x.shape
        q, k, v = self.wq(x).view(b, s, self.h, self.d), self.wk(x).view(b, s, self.kv, self.d), self.wv(x).view(b, s, self.kv, self.d)
        q, k = apply_rotary_emb(q, k, fc)
        k, v = repeat_kv(k, self.h // self.kv), repeat_kv(v, self.h // self.kv)
        o = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(o.transpose(1, 2).contiguous().view(b, s, -1))

    def forward(self, x, fc):
        h = x + self.attention(self.attention_norm(x), fc)
        y = self.ffn_norm(h)
        return h + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Transformer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tok_embeddings = nn.Embedding(a.vocab, a.dim)
        self.layers = nn.ModuleList(TransformerBlock(a.dim, a.heads, a.kv_heads, a.hidden) for _ in range(a.layers))
        self.norm, self.output = RMSNorm(a.dim), nn.Linear(a.dim, a.vocab, bias=False)
        self.register_buffer("freqs_cis", precompute_freqs_cis(a.dim // a.heads, a.seq), persistent=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers:
            h = checkpoint(layer, h, self.freqs_cis, use_reentrant=False)
        return self.output(self.norm(h)).float()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    for k, v in dict(dim=1536, layers=16, heads=24, kv_heads=8, hidden=4096, vocab=64000, seq=2048, bs=6, steps=4).items():
        p.add_argument(f"--{k}", type=int, default=v)
    a = p.parse_args()
    with torch.device("cuda"):
        model = Transformer(a)
    for w in model.parameters():     # weights in bf16, complex rope table untouched
        w.data = w.data.bfloat16()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, foreach=True)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 100))
    for step in range(a.steps):
        toks = torch.randint(0, a.vocab, (a.bs, a.seq + 1), device="cuda")
        logits = model(toks[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), toks[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        opt.step()
        sched.step()
        opt.zero_grad()
        print(step, loss.item())
