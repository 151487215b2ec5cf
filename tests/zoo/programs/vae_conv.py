"""A convolutional variational autoencoder."""

import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, latent=128, dims=(32, 64, 128, 256)):
        super().__init__()
        modules, cin = [], 3
        for d in dims:
            modules.append(nn.Sequential(nn.Conv2d(cin, d, 3, 2, 1), nn.BatchNorm2d(d), nn.LeakyReLU()))
            cin = d
        self.encoder = nn.Sequential(*modules)
        self.fc_mu, self.fc_var = nn.Linear(256 * 64, latent), nn.Linear(256 * 64, latent)
        self.decoder_input = nn.Linear(latent, 256 * 64)
        modules = []
        for a, b in zip(dims[::-1], (*dims[-2::-1], 32)):
            modules.append(
                nn.Sequential(
                    nn.ConvTranspose2d(a, b, 3, 2, 1, output_padding=1), nn.BatchNorm2d(b), nn.LeakyReLU()
                )
            )
        self.decoder = nn.Sequential(*modules)
        self.final = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x):
        h = self.encoder(x).flatten(1)
        mu, log_var = self.fc_mu(h), self.fc_var(h)
        z = mu + torch.randn_like(log_var) * torch.exp(0.5 * log_var)
        out = self.decoder(self.decoder_input(z).view(-1, 256, 8, 8))
        return torch.tanh(self.final(out)), mu, log_var


def vae_loss(x, out, mu, log_var):
    kld = torch.mean(-0.5 * torch.sum(1 + log_var - mu**2 - log_var.exp(), dim=1), dim=0)
    return F.mse_loss(out, x) + 0.00025 * kld


vae = VAE().to("cuda", precision(options))
opt = make_optimizer(vae.parameters(), options.optimizer)
for i in range(options.steps):
    step(i)
    for _ in range(options.accumulate):
        x = torch.rand(options.batch, 3, 128, 128).to("cuda", precision(options))
        with autocast(options):
            loss = vae_loss(x, *vae(x))
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=options.zero != "fill")

declare(model=vae, attention="")
done()
