"""GShard-style top-2 MoE decoder, every other layer sparse. Weights, gradients and AdamW state in bf16."""
from __future__ import annotations
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn, Tensor
from torch.utils.checkpoint import checkpoint


class RMSNorm(nn.Module):
    def __init__(self, d): super().__init__(); self.g = nn.Parameter(torch.ones(d))
    def forward(self, x): return F.rms_norm(x, x.shape[-1:], self.g)


def rope(x: Tensor, base=10000.):
    t, d = x.shape[-2:]
    inv = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    f = torch.outer(torch.arange(t, device=x.device).float(), inv)
    c, s = f.cos().to(x.dtype), f.sin().to(x.dtype)
    a, b = x.chunk(2, -1)
    return torch.cat([a * c - b * s, b * c + a * s], -1)


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def forward(self, x):
        q, k, v = rearrange(self.qkv(x), 'b t (three h e) -> three b h t e', three=3, h=self.h)
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True)
        return self.o(rearrange(y, 'b h t e -> b t (h e)'))


class SwiGLU(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1, self.w3, self.w2 = nn.Linear(d, f, False), nn.Linear(d, f, False), nn.Linear(f, d, False)

    def forward(self, x): return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, d, f, n_exp=8, capacity=1.25, group=512):
        super().__init__()
        self.gate = nn.Linear(d, n_exp, bias=False)
        self.wi = nn.Parameter(torch.randn(n_exp, d, f) * d ** -.5)
        self.wg = nn.Parameter(torch.randn(n_exp, d, f) * d ** -.5)
        self.wo = nn.Parameter(torch.randn(n_exp, f, d) * f ** -.5)
        self.e, self.group = n_exp, group
        self.cap = int(2 * capacity * group / n_exp)

    def forward(self, x):
        b, t, d = x.shape
        g = x.reshape(-1, self.group, d)
        p = self.gate(g).float().softmax(-1)
        top, idx = p.topk(2, -1)
        top = top / top.sum(-1, keepdim=True)
        combine = 0
        prev = torch.zeros(g.size(0), 1, self.e, device=x.device)
        for k in range(2):
            onehot = F.one_hot(idx[..., k], self.e).float()
            pos = (onehot.cumsum(1) - 1 + prev) * onehot
            prev = prev + onehot.sum(1, keepdim=True)
            keep = onehot * (pos < self.cap)
            slot = F.one_hot((pos * keep).sum(-1).long().clamp_(0, self.cap - 1), self.cap).float()
            combine = combine + (top[..., k, None, None] * keep[..., None] * slot[:, :, None, :])
        aux = self.e * (p.mean(1) * F.one_hot(idx[..., 0], self.e).float().mean(1)).sum(-1).mean()
        combine = combine.to(x.dtype)
        xin = torch.einsum('gsec,gsd->egcd', (combine > 0).to(x.dtype), g)
        xin = xin.reshape(self.e, -1, d)
        h = F.silu(torch.bmm(xin, self.wg)) * torch.bmm(xin, self.wi)
        out = torch.bmm(h, self.wo).view(self.e, g.size(0), self.cap, d)
        return torch.einsum('gsec,egcd->gsd', combine, out).view(b, t, d), aux


class Layer(nn.Module):
    def __init__(self, d, h, sparse):
        super().__init__()
        self.n1, self.n2, self.attn = RMSNorm(d), RMSNorm(d), Attn(d, h)
        self.ff = MoE(d, 2 * d) if sparse else SwiGLU(d, 8 * d // 3)
        self.sparse = sparse

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        r = self.ff(self.n2(x))
        y, aux = r if self.sparse else (r, x.new_zeros((), dtype=torch.float32))
        return x + y, aux


class Decoder(nn.Module):
    def __init__(self, vocab=32768, d=1024, n=12, h=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d, h, i % 2 == 1) for i in range(n))
        self.norm, self.head = RMSNorm(d), nn.Linear(d, vocab, bias=False)

    def forward(self, ids, tgt):
        x, aux = self.emb(ids), 0.
        for i, l in enumerate(self.layers):
            if l.sparse:      # the experts' activations are the big ones
                x, a = checkpoint(l, x, use_reentrant=False)
            else:
                x, a = l(x)
            aux = aux + a
        x = self.norm(x)
        # chunked loss: never hold all logits in fp32 at once
        tot = 0.
        for xs, ts in zip(x.chunk(4, 1), tgt.chunk(4, 1)):
            tot = tot + F.cross_entropy(self.head(xs).float().flatten(0, 1), ts.flatten(), reduction='sum')
        return tot / tgt.numel() + 0.01 * aux


def main():
    torch.manual_seed(0)
    model = Decoder().to('cuda', torch.bfloat16)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(.9, .95), foreach=False)
    for step in range(3):
        buf = torch.randint(0, 32768, (6, 2049), device='cuda')
        loss = model(buf[:, :-1], buf[:, 1:])
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        print(step, loss.detach().float().cpu())


if __name__ == '__main__':
    main()
