import torch
from torch import nn
from einops import rearrange, repeat
from einops.layers.torch import Rearrange


class FeedForward(nn.Sequential):
    def __init__(self, dim, hidden, p=0.):
        super().__init__(nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(p), nn.Linear(hidden, dim), nn.Dropout(p))


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64, dropout=0.):
        super().__init__()
        inner = dim_head * heads
        self.heads, self.scale = heads, dim_head ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(dropout)
        self.to_qkv = nn.Linear(dim, inner * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, dim), nn.Dropout(dropout))

    def forward(self, x):
        x = self.norm(x)
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h=self.heads), qkv)
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        attn = self.dropout(self.attend(dots))
        out = rearrange(torch.matmul(attn, v), 'b h n d -> b n (h d)')
        return self.to_out(out)


class ViT(nn.Module):
    def __init__(self, *, image_size, patch, classes, dim, depth, heads, mlp_dim, dropout=0., emb_dropout=0.):
        super().__init__()
        n = (image_size // patch) ** 2
        self.to_patch = nn.Sequential(
            Rearrange('b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=patch, p2=patch),
            nn.LayerNorm(3 * patch * patch), nn.Linear(3 * patch * patch, dim), nn.LayerNorm(dim))
        self.pos = nn.Parameter(torch.randn(1, n + 1, dim))
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.drop = nn.Dropout(emb_dropout)
        self.layers = nn.ModuleList([nn.ModuleList([Attention(dim, heads, dropout=dropout), FeedForward(dim, mlp_dim, dropout)]) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, img):
        x = self.to_patch(img)
        x = torch.cat((repeat(self.cls, '1 1 d -> b 1 d', b=x.shape[0]), x), dim=1)
        x = self.drop(x + self.pos)
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.head(self.norm(x)[:, 0])


v = ViT(image_size=256, patch=16, classes=1000, dim=1024, depth=12, heads=16, mlp_dim=3072, dropout=0.1, emb_dropout=0.1).cuda()
optim = torch.optim.NAdam(v.parameters(), lr=3e-4, weight_decay=0.01)
for step in range(3):
    img = torch.randn(32, 3, 256, 256, device='cuda')
    tgt = torch.randint(0, 1000, (32,), device='cuda')
    preds = v(img)
    loss = nn.functional.cross_entropy(preds, tgt)
    loss.backward()
    nn.utils.clip_grad_norm_(v.parameters(), 1.0)
    optim.step()
    optim.zero_grad()
    print('step', step, loss.item())
