"""Llama-style decoder written out; per-block activation checkpointing, chunked loss, own Lion optimizer."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                m = state["exp_avg"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                update = m.clone().mul_(b1).add(p.grad, alpha=1 - b1).sign_()
                p.add_(update, alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.w, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        n = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return (n * self.w).type_as(x)


def rope_table(dim, n, base=10000.0):
    f = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
    t = torch.outer(torch.arange(n).float(), f)
    return torch.polar(torch.ones_like(t), t)


def rope(x, freqs):
    xc = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(xc * freqs[None, :, None]).flatten(3).type_as(x)


class Layer(nn.Module):
    def __init__(self, d, h, kv, ff):
        super().__init__()
        self.h, self.kv, self.hd = h, kv, d // h
        self.n1, self.n2 = RMSNorm(d), RMSNorm(d)
        self.wq = nn.Linear(d, d, bias=False)
        self.wkv = nn.Linear(d, 2 * kv * self.hd, bias=False)
        self.wo = nn.Linear(d, d, bias=False)
        self.w1, self.w3, self.w2 = nn.Linear(d, ff, bias=False), nn.Linear(d, ff, bias=False), nn.Linear(ff, d, bias=False)

    def forward(self, x, freqs):
        b, t, d = x.shape
        y = self.n1(x)
        q = rope(self.wq(y).view(b, t, self.h, self.hd), freqs).transpose(1, 2)
        k, v = self.wkv(y).view(b, t, 2, self.kv, self.hd).unbind(2)
        k = rope(k, freqs).repeat_interleave(self.h // self.kv, dim=2).transpose(1, 2)
        v = v.repeat_interleave(self.h // self.kv, dim=2).transpose(1, 2)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(a.transpose(1, 2).reshape(b, t, d))
        y = self.n2(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class LM(nn.Module):
    def __init__(self, V=32768, d=1024, L=18, h=16, kv=4, T=2048):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.layers = nn.ModuleList(Layer(d, h, kv, 2816) for _ in range(L))
        self.norm, self.head = RMSNorm(d), nn.Linear(d, V, bias=False)
        self.register_buffer("freqs", rope_table(d // h, T), persistent=False)

    def loss(self, ids, chunks=8):
        x = self.emb(ids[:, :-1])
        for l in self.layers:
            x = checkpoint(l, x, self.freqs[: x.shape[1]], use_reentrant=False)
        x = self.norm(x)
        total = 0.0
        for xc, yc in zip(x.chunk(chunks, dim=1), ids[:, 1:].chunk(chunks, dim=1)):
            total = total + checkpoint(self._ce, xc, yc, use_reentrant=False)
        return total / ids[:, 1:].numel()

    def _ce(self, x, y):
        return F.cross_entropy(self.head(x).float().flatten(0, 1), y.flatten(), reduction="sum")


if __name__ == "__main__":
    net = LM().cuda()
    opt = Lion(net.parameters(), lr=1e-4, weight_decay=0.1)
    for step in range(3):
        ids = torch.randint(0, 32768, (8, 2049), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = net.loss(ids)
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        print(step, loss.item())
    print("peak MiB", torch.cuda.max_memory_reserved() >> 20)
