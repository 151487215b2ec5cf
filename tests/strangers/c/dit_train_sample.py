"""Class-conditional DiT with flow matching; samples a grid from the EMA weights every few steps."""
import math
from copy import deepcopy
from collections import OrderedDict
import torch
import torch.nn as nn
from timm.models.vision_transformer import Attention, Mlp, PatchEmbed


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class TimestepEmbedder(nn.Module):
    def __init__(self, hidden, freq=256):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(freq, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.freq = freq

    def forward(self, t):
        half = self.freq // 2
        f = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
        a = t[:, None].float() * 1000 * f[None]
        return self.mlp(torch.cat([a.cos(), a.sin()], -1))


class DiTBlock(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.norm1 = nn.LayerNorm(d, elementwise_affine=False, eps=1e-6)
        self.attn = Attention(d, num_heads=h, qkv_bias=True)
        self.norm2 = nn.LayerNorm(d, elementwise_affine=False, eps=1e-6)
        self.mlp = Mlp(in_features=d, hidden_features=4 * d, act_layer=lambda: nn.GELU(approximate="tanh"), drop=0)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(d, 6 * d, bias=True))

    def forward(self, x, c):
        s1, sc1, g1, s2, sc2, g2 = self.adaLN_modulation(c).chunk(6, dim=1)
        x = x + g1.unsqueeze(1) * self.attn(modulate(self.norm1(x), s1, sc1))
        x = x + g2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), s2, sc2))
        return x


class DiT(nn.Module):
    def __init__(self, size=32, patch=2, ch=4, d=768, depth=12, heads=12, n_cls=1000):
        super().__init__()
        self.x_embedder = PatchEmbed(size, patch, ch, d)
        self.t_embedder = TimestepEmbedder(d)
        self.y_embedder = nn.Embedding(n_cls + 1, d)
        self.pos = nn.Parameter(torch.zeros(1, self.x_embedder.num_patches, d), requires_grad=False)
        self.blocks = nn.ModuleList([DiTBlock(d, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(d, elementwise_affine=False)
        self.mod = nn.Sequential(nn.SiLU(), nn.Linear(d, 2 * d))
        self.linear = nn.Linear(d, patch * patch * ch)
        self.p, self.ch = patch, ch

    def forward(self, x, t, y):
        n, hw = x.shape[0], x.shape[-1] // self.p
        x = self.x_embedder(x) + self.pos
        c = self.t_embedder(t) + self.y_embedder(y)
        for b in self.blocks:
            x = b(x, c)
        sh, sc = self.mod(c).chunk(2, 1)
        x = self.linear(modulate(self.norm(x), sh, sc))
        x = x.reshape(n, hw, hw, self.p, self.p, self.ch)
        return torch.einsum("nhwpqc->nchpwq", x).reshape(n, self.ch, hw * self.p, hw * self.p)


@torch.no_grad()
def update_ema(ema_model, model, decay=0.9999):
    ema_params = OrderedDict(ema_model.named_parameters())
    for name, param in model.named_parameters():
        ema_params[name].mul_(decay).add_(param.data, alpha=1 - decay)


@torch.no_grad()
def sample(ema, n, device, steps=12, cfg_scale=4.0):
    z = torch.randn(n, 4, 32, 32, device=device)
    y = torch.randint(0, 1000, (n,), device=device)
    y = torch.cat([y, torch.full_like(y, 1000)])
    for i in range(steps):
        t = torch.full((2 * n,), i / steps, device=device)
        v = ema(torch.cat([z, z]), t, y)
        cond, uncond = v.chunk(2)
        z = z + (uncond + cfg_scale * (cond - uncond)) / steps
    return z


def main():
    device = torch.device("cuda", 0)
    model = DiT().to(device)
    ema = deepcopy(model).to(device)
    for p in ema.parameters():
        p.requires_grad = False
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0)
    update_ema(ema, model, decay=0)
    model.train()
    ema.eval()
    for train_steps in range(4):
        x = torch.randn(48, 4, 32, 32).to(device) * 0.18215
        y = torch.randint(0, 1000, (48,)).to(device)
        y = torch.where(torch.rand(48, device=device) < 0.1, 1000, y)
        t = torch.sigmoid(torch.randn(48, device=device))
        noise = torch.randn_like(x)
        tt = t.view(-1, 1, 1, 1)
        loss = ((model(tt * x + (1 - tt) * noise, t, y) - (x - noise)) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_ema(ema, model)
        if (train_steps + 1) % 2 == 0:
            torch.save(sample(ema, 64, device).cpu(), "dit_samples.pt")
    print("Done!")


if __name__ == "__main__":
    main()
