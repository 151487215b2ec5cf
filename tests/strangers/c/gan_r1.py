import argparse, random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def accumulate(model1, model2, decay=0.999):
    par1, par2 = dict(model1.named_parameters()), dict(model2.named_parameters())
    for k in par1.keys():
        par1[k].data.mul_(decay).add_(par2[k].data, alpha=1 - decay)


class GBlock(nn.Module):
    def __init__(self, i, o, z):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(i, o, 3, padding=1), nn.Conv2d(o, o, 3, padding=1)
        self.style1, self.style2 = nn.Linear(z, 2 * o), nn.Linear(z, 2 * o)
        self.noise = nn.Parameter(torch.zeros(1))

    def adain(self, x, s):
        g, b = s[:, :, None, None].chunk(2, 1)
        return (1 + g) * F.instance_norm(x) + b

    def forward(self, x, w):
        x = F.interpolate(x, scale_factor=2, mode='nearest')
        x = self.conv1(x)
        x = F.leaky_relu(x + self.noise * torch.randn_like(x[:, :1]), 0.2)
        x = self.adain(x, self.style1(w))
        x = F.leaky_relu(self.conv2(x), 0.2)
        return self.adain(x, self.style2(w))


class Generator(nn.Module):
    def __init__(self, z=512, ch=(512, 512, 256, 128, 64, 32)):
        super().__init__()
        self.mapping = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(z, z), nn.LeakyReLU(0.2))])
        self.const = nn.Parameter(torch.randn(1, ch[0], 4, 4))
        self.blocks = nn.ModuleList([GBlock(a, b, z) for a, b in zip(ch, ch[1:])])
        self.to_rgb = nn.Conv2d(ch[-1], 3, 1)

    def forward(self, z):
        w = self.mapping(F.normalize(z))
        x = self.const.expand(z.size(0), -1, -1, -1)
        for b in self.blocks:
            x = b(x, w)
        return self.to_rgb(x).tanh()


class DBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(i, i, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(i, o, 3, padding=1),
                                  nn.LeakyReLU(0.2), nn.AvgPool2d(2))
        self.skip = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(i, o, 1, bias=False))

    def forward(self, x):
        return (self.main(x) + self.skip(x)) / 2 ** 0.5


class Discriminator(nn.Module):
    def __init__(self, ch=(32, 64, 128, 256, 512, 512)):
        super().__init__()
        self.inp = nn.Conv2d(3, ch[0], 1)
        self.blocks = nn.Sequential(*[DBlock(a, b) for a, b in zip(ch, ch[1:])])
        self.out = nn.Sequential(nn.Flatten(), nn.Linear(ch[-1] * 16, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


def train(args, generator, discriminator, g_ema, g_optim, d_optim, device):
    accumulate(g_ema, generator, 0)
    for i in range(args.iter):
        real_img = torch.rand(args.batch, 3, 128, 128).mul(2).sub(1).to(device)
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        noise = torch.randn(args.batch, 512, device=device)
        fake_img = generator(noise)
        fake_pred = discriminator(fake_img)
        real_pred = discriminator(real_img)
        d_loss = F.softplus(-real_pred).mean() + F.softplus(fake_pred).mean()
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()

        if i % args.d_reg_every == 0:
            real_img.requires_grad = True
            real_pred = discriminator(real_img)
            r1_loss = d_r1_loss(real_pred, real_img)
            discriminator.zero_grad()
            (args.r1 / 2 * r1_loss * args.d_reg_every + 0 * real_pred[0]).backward()
            d_optim.step()

        requires_grad(generator, True)
        requires_grad(discriminator, False)
        noise = torch.randn(args.batch, 512, device=device)
        fake_img = generator(noise)
        fake_pred = discriminator(fake_img)
        g_loss = F.softplus(-fake_pred).mean()
        generator.zero_grad()
        g_loss.backward()
        g_optim.step()
        accumulate(g_ema, generator, 0.5 ** (32 / 10000))
        print(i, d_loss.item(), g_loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iter", type=int, default=3)
    p.add_argument("--batch", type=int, default=96)
    p.add_argument("--r1", type=float, default=10)
    p.add_argument("--d_reg_every", type=int, default=2)
    args = p.parse_args()
    device = "cuda"
    generator, discriminator, g_ema = Generator().to(device), Discriminator().to(device), Generator().to(device)
    g_ema.eval()
    g_optim = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.0, 0.99))
    d_optim = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.0, 0.99))
    train(args, generator, discriminator, g_ema, g_optim, d_optim, device)
