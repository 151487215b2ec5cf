import torch
from torch import nn
from torch.nn import functional as F


class VanillaVAE(nn.Module):
    def __init__(self, in_channels=3, latent_dim=128, hidden_dims=(32, 64, 128, 256, 512), size=128):
        super().__init__()
        self.hidden_dims, self.grid = hidden_dims, size // 2 ** len(hidden_dims)
        modules, c = [], in_channels
        for h in hidden_dims:
            modules.append(nn.Sequential(nn.Conv2d(c, h, 3, stride=2, padding=1), nn.BatchNorm2d(h), nn.LeakyReLU()))
            c = h
        self.encoder = nn.Sequential(*modules)
        flat = hidden_dims[-1] * self.grid ** 2
        self.fc_mu, self.fc_var = nn.Linear(flat, latent_dim), nn.Linear(flat, latent_dim)
        self.decoder_input = nn.Linear(latent_dim, flat)
        rev = list(reversed(hidden_dims))
        self.decoder = nn.Sequential(*[
            nn.Sequential(nn.ConvTranspose2d(a, b, 3, stride=2, padding=1, output_padding=1), nn.BatchNorm2d(b), nn.LeakyReLU())
            for a, b in zip(rev[:-1], rev[1:])])
        self.final_layer = nn.Sequential(
            nn.ConvTranspose2d(rev[-1], rev[-1], 3, stride=2, padding=1, output_padding=1), nn.BatchNorm2d(rev[-1]),
            nn.LeakyReLU(), nn.Conv2d(rev[-1], 3, 3, padding=1), nn.Tanh())

    def encode(self, x):
        r = torch.flatten(self.encoder(x), start_dim=1)
        return self.fc_mu(r), self.fc_var(r)

    def decode(self, z):
        r = self.decoder_input(z).view(-1, self.hidden_dims[-1], self.grid, self.grid)
        return self.final_layer(self.decoder(r))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return torch.randn_like(std) * std + mu

    def forward(self, x):
        mu, log_var = self.encode(x)
        return [self.decode(self.reparameterize(mu, log_var)), x, mu, log_var]

    def loss_function(self, recons, x, mu, log_var, kld_weight):
        rec = F.mse_loss(recons, x)
        kld = torch.mean(-0.5 * torch.sum(1 + log_var - mu ** 2 - log_var.exp(), dim=1), dim=0)
        return {'loss': rec + kld_weight * kld, 'rec': rec.detach(), 'kld': -kld.detach()}


class Experiment:
    def __init__(self, batch=288):
        self.batch = batch
        self.model = VanillaVAE().cuda()
        self.optim = torch.optim.Adamax(self.model.parameters(), lr=5e-3, weight_decay=0.0)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.optim, 0.95)

    def training_step(self):
        x = (torch.rand(self.batch, 3, 128, 128) * 2 - 1).cuda()
        out = self.model(x)
        losses = self.model.loss_function(*out, kld_weight=0.00025)
        self.optim.zero_grad()
        losses['loss'].backward()
        self.optim.step()
        return {k: v.item() for k, v in losses.items()}

    @torch.no_grad()
    def sample_images(self, n=144):
        self.model.eval()
        z = torch.randn(n, 128, device='cuda')
        grid = self.model.decode(z)
        self.model.train()
        return grid.cpu().shape

    def fit(self, epochs=2, steps=2):
        for e in range(epochs):
            for _ in range(steps):
                logs = self.training_step()
            self.sched.step()
            print(e, logs, self.sample_images())


Experiment().fit()
print('peak', torch.cuda.max_memory_reserved() / 2**20, 'MiB')
