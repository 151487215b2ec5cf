#!/usr/bin/env python
"""Waveform source separation: strided 1D conv encoder / GLU / transposed decoder with skips."""
from dataclasses import dataclass
import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Args:
    sources: int = 4
    audio_channels: int = 2
    channels: int = 64
    depth: int = 6
    kernel: int = 8
    stride: int = 4
    segment: float = 6.0
    samplerate: int = 44100
    batch_size: int = 16
    lr: float = 3e-4
    iters: int = 4


class Demucs(nn.Module):
    def __init__(self, a: Args):
        super().__init__()
        self.a = a
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        cin, ch, cout = a.audio_channels, a.channels, a.sources * a.audio_channels
        for i in range(a.depth):
            self.encoder.append(nn.Sequential(
                nn.Conv1d(cin, ch, a.kernel, a.stride), nn.GroupNorm(4, ch), nn.GELU(),
                nn.Conv1d(ch, 2 * ch, 1), nn.GroupNorm(4, 2 * ch), nn.GLU(1)))
            dec = [nn.Conv1d(ch, 2 * ch, 3, padding=1), nn.GLU(1), nn.ConvTranspose1d(ch, cout, a.kernel, a.stride)]
            if i > 0:
                dec.append(nn.GELU())
            self.decoder.insert(0, nn.Sequential(*dec))
            cout, cin, ch = ch, ch, min(2 * ch, 1024)
        self.bottleneck = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(cin, 8, 2 * cin, batch_first=True, norm_first=True), 2, enable_nested_tensor=False)

    def valid_length(self, n):
        for _ in range(self.a.depth):
            n = max(-(-(n - self.a.kernel) // self.a.stride) + 1, 1)
        for _ in range(self.a.depth):
            n = (n - 1) * self.a.stride + self.a.kernel
        return n

    def forward(self, mix):
        length = mix.shape[-1]
        x = F.pad(mix, (0, self.valid_length(length) - length))
        saved = []
        for enc in self.encoder:
            x = enc(x)
            saved.append(x)
        x = self.bottleneck(x.transpose(1, 2)).transpose(1, 2)
        for dec in self.decoder:
            skip = saved.pop(-1)
            x = dec(x + skip[..., :x.shape[-1]])
        return x[..., :length].view(x.size(0), self.a.sources, self.a.audio_channels, length)


class Solver:
    def __init__(self, args):
        self.args = args
        self.model = Demucs(args).to("cuda")
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr, betas=(0.9, 0.999))
        self.losses = []

    def _run_one(self):
        n = int(self.args.segment * self.args.samplerate)
        sources = torch.randn(self.args.batch_size, self.args.sources, self.args.audio_channels, n, device="cuda")
        # remix augmentation
        for s in range(self.args.sources):
            sources[:, s] = sources[torch.randperm(len(sources)), s]
        mix = sources.sum(dim=1)
        est = self.model(mix)
        loss = F.l1_loss(est, sources, reduction="none").mean(dim=(2, 3)).mean(0).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.losses.append(loss.item())

    def train(self):
        for _ in range(self.args.iters):
            self._run_one()
        print(self.losses)


Solver(Args()).train()
