import torch
from torch import nn, autograd
import torch.nn.functional as F

class GBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.b1, self.c1 = nn.BatchNorm2d(cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.b2, self.c2 = nn.BatchNorm2d(cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.sc = nn.Conv2d(cin, cout, 1)
    def forward(self, x):
        h = F.interpolate(F.relu(self.b1(x)), scale_factor=2)
        h = self.c2(F.relu(self.b2(self.c1(h))))
        return h + self.sc(F.interpolate(x, scale_factor=2))

class DBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.c1, self.c2, self.sc = nn.Conv2d(cin, cout, 3, padding=1), nn.Conv2d(cout, cout, 3, padding=1), nn.Conv2d(cin, cout, 1)
    def forward(self, x):
        h = self.c2(F.leaky_relu(self.c1(F.leaky_relu(x, 0.2)), 0.2))
        return F.avg_pool2d(h, 2) + self.sc(F.avg_pool2d(x, 2))

class Generator(nn.Module):
    def __init__(self, z=128, ch=64):
        super().__init__()
        self.fc = nn.Linear(z, 4 * 4 * ch * 8)
        self.blocks = nn.Sequential(GBlock(ch * 8, ch * 8), GBlock(ch * 8, ch * 4), GBlock(ch * 4, ch * 2), GBlock(ch * 2, ch))
        self.out = nn.Sequential(nn.BatchNorm2d(ch), nn.ReLU(), nn.Conv2d(ch, 3, 3, padding=1), nn.Tanh())
    def forward(self, z):
        return self.out(self.blocks(self.fc(z).view(z.size(0), -1, 4, 4)))

class Critic(nn.Module):
    def __init__(self, ch=64):
        super().__init__()
        self.stem = nn.Conv2d(3, ch, 3, padding=1)
        self.blocks = nn.Sequential(DBlock(ch, ch * 2), DBlock(ch * 2, ch * 4), DBlock(ch * 4, ch * 8), DBlock(ch * 8, ch * 8))
        self.fc = nn.Linear(ch * 8 * 16, 1)
    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).flatten(1))

def gradient_penalty(D, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d = D(inter)
    g = autograd.grad(outputs=d, inputs=inter, grad_outputs=torch.ones_like(d), create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((g.flatten(1).norm(2, dim=1) - 1) ** 2).mean()

G, D = Generator().cuda(), Critic().cuda()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-4, betas=(0.0, 0.9))
fixed_z = torch.randn(64, 128, device="cuda")
bs, n_critic = 128, 3
for it in range(3):
    for p in D.parameters(): p.requires_grad_(True)
    for _ in range(n_critic):
        real = torch.rand(bs, 3, 64, 64).cuda() * 2 - 1
        with torch.no_grad():
            fake = G(torch.randn(bs, 128, device="cuda"))
        d_real, d_fake = D(real).mean(), D(fake).mean()
        gp = gradient_penalty(D, real, fake)
        loss_d = d_fake - d_real + 10 * gp
        opt_d.zero_grad(); loss_d.backward(); opt_d.step()
    for p in D.parameters(): p.requires_grad_(False)
    loss_g = -D(G(torch.randn(bs, 128, device="cuda"))).mean()
    opt_g.zero_grad(); loss_g.backward(); opt_g.step()
    print(it, loss_d.item(), loss_g.item())
with torch.no_grad():
    samples = G(fixed_z).cpu()
