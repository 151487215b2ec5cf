# Pyramid Vision Transformer, written from scratch. fp32, Adam, TinyImageNet-like at 192px.
import torch, torch.nn as nn

class SRAttention(nn.Module):
    def __init__(self, dim, heads, sr):
        super().__init__()
        self.h, self.scale = heads, (dim // heads) ** -0.5
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.proj = nn.Linear(dim, dim)
        self.sr = nn.Conv2d(dim, dim, sr, sr) if sr > 1 else None
        self.norm = nn.LayerNorm(dim) if sr > 1 else None
        self.drop = nn.Dropout(0.1)

    def forward(self, x, H, W):
        B, N, C = x.shape
        q = self.q(x).reshape(B, N, self.h, C // self.h).permute(0, 2, 1, 3)
        if self.sr is not None:
            y = x.transpose(1, 2).reshape(B, C, H, W)
            y = self.norm(self.sr(y).flatten(2).transpose(1, 2))
        else:
            y = x
        k, v = self.kv(y).reshape(B, -1, 2, self.h, C // self.h).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = self.drop(attn.softmax(dim=-1))
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))

class Block(nn.Module):
    def __init__(self, dim, heads, sr, ratio):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SRAttention(dim, heads, sr)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * ratio), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim * ratio, dim))
    def forward(self, x, H, W):
        x = x + self.attn(self.n1(x), H, W)
        return x + self.mlp(self.n2(x))

class Stage(nn.Module):
    def __init__(self, cin, dim, depth, heads, sr, ratio, patch):
        super().__init__()
        self.embed = nn.Conv2d(cin, dim, patch, patch)
        self.norm = nn.LayerNorm(dim)
        self.blocks = nn.ModuleList([Block(dim, heads, sr, ratio) for _ in range(depth)])
    def forward(self, x):
        x = self.embed(x)
        B, C, H, W = x.shape
        x = self.norm(x.flatten(2).transpose(1, 2))
        for b in self.blocks:
            x = b(x, H, W)
        return x.transpose(1, 2).reshape(B, C, H, W).contiguous()

class PVT(nn.Module):
    def __init__(self, classes):
        super().__init__()
        dims, depths, heads = [64, 128, 320, 512], [3, 4, 6, 3], [1, 2, 5, 8]
        srs, ratios, cin = [8, 4, 2, 1], [8, 8, 4, 4], 3
        self.stages = nn.ModuleList()
        for i in range(4):
            self.stages.append(Stage(cin, dims[i], depths[i], heads[i], srs[i], ratios[i], 4 if i == 0 else 2))
            cin = dims[i]
        self.head = nn.Linear(512, classes)
    def forward(self, x):
        for s in self.stages:
            x = s(x)
        return self.head(x.mean((2, 3)))

net = PVT(200).cuda()
opt = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps=20)
lossf = nn.CrossEntropyLoss()
history = []
for it in range(3):
    xb = torch.rand(40, 3, 192, 192, device="cuda"); yb = torch.randint(200, (40,), device="cuda")
    loss = lossf(net(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    history.append(loss.item())
print(history)
