"""A vision transformer with layers as pairs in a ModuleList, and einops."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch import nn
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim), nn.Linear(dim, hidden_dim), nn.GELU(), nn.Dropout(dropout),
            nn.Linear(hidden_dim, dim), nn.Dropout(dropout),
        )  # fmt: skip

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Linear(inner_dim, dim)

    def forward(self, x):
        q, k, v = (
            rearrange(t, "b n (h d) -> b h n d", h=self.heads)
            for t in self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        )
        if options.attention == "sdpa":
            out = F.scaled_dot_product_attention(q, k, v)
        else:
            dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
            out = torch.matmul(self.attend(dots), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads, mlp_dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([Attention(dim, heads), FeedForward(dim, mlp_dim)]))

    def layer(self, i, x):
        attn, ff = self.layers[i]
        x = attn(x) + x
        return ff(x) + x

    def forward(self, x):
        for i, (attn, ff) in enumerate(self.layers):
            if chosen(options.checkpoint, i):
                x = checkpoint(self.layer, i, x, use_reentrant=False)
            else:
                x = attn(x) + x
                x = ff(x) + x
        return self.norm(x)


class ViT(nn.Module):
    def __init__(self, dim=768, depth=9, heads=12, mlp_dim=3072, patch=16):
        super().__init__()
        self.to_patch_embedding = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=patch, p2=patch),
            nn.Linear(3 * patch**2, dim),
        )
        self.pos_embedding = nn.Parameter(torch.zeros(1, 257, dim))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.transformer = Transformer(dim, depth, heads, mlp_dim)
        self.mlp_head = nn.Linear(dim, 1000)

    def forward(self, img):
        x = self.to_patch_embedding(img)
        cls_tokens = repeat(self.cls_token, "1 1 d -> b 1 d", b=len(x))
        x = torch.cat((cls_tokens, x), dim=1) + self.pos_embedding
        return self.mlp_head(self.transformer(x)[:, 0])


v = ViT().to(device="cuda", dtype=precision(options))
optimizer = make_optimizer(v.parameters(), options.optimizer)
criterion = nn.CrossEntropyLoss()
for epoch in range(options.steps):
    step(epoch)
    optimizer.zero_grad(set_to_none=options.zero != "fill")
    for _ in range(options.accumulate):
        img = torch.randn(options.batch, 3, 256, 256).to("cuda", precision(options))
        label = torch.randint(0, 1000, (options.batch,)).cuda()
        with autocast(options):
            loss = criterion(v(img), label)
        loss.backward()
    nn.utils.clip_grad_norm_(v.parameters(), 1.0)
    optimizer.step()

declare(model=v, block_count=9, attention="fused" if options.attention == "sdpa" else "written")
done()
