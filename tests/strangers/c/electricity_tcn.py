"""Multi-horizon probabilistic load forecasting: dilated causal convs + self attention, quantile loss."""
import lightning.pytorch as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

QUANTILES = (0.1, 0.5, 0.9)


class Windows(Dataset):
    def __init__(self, n_series=64, length=4000, enc=720, dec=96):
        self.x = torch.randn(n_series, length).cumsum(1)
        self.enc, self.dec = enc, dec

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        s = i % self.x.size(0)
        o = (i * 131) % (self.x.size(1) - self.enc - self.dec)
        w = self.x[s, o:o + self.enc + self.dec]
        cal = torch.stack([torch.arange(o, o + len(w)).float() % 24, torch.arange(o, o + len(w)).float() % 168])
        return w[:self.enc], cal[:, :self.enc], w[self.enc:], s


class CausalConv(nn.Conv1d):
    def __init__(self, ci, co, k, d):
        super().__init__(ci, co, k, dilation=d)
        self.left = (k - 1) * d

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class TemporalBlock(nn.Module):
    def __init__(self, ci, co, k, d, drop):
        super().__init__()
        self.c1, self.c2 = CausalConv(ci, co, k, d), CausalConv(co, co, k, d)
        self.drop = nn.Dropout(drop)
        self.skip = nn.Conv1d(ci, co, 1) if ci != co else nn.Identity()

    def forward(self, x):
        h = self.drop(F.relu(self.c1(x)))
        h = self.drop(F.relu(self.c2(h)))
        return F.relu(h + self.skip(x))


class Forecaster(pl.LightningModule):
    def __init__(self, n_series=64, width=128, levels=8, horizon=96):
        super().__init__()
        self.emb = nn.Embedding(n_series, 16)
        chans = [3 + 16] + [width] * levels
        self.tcn = nn.Sequential(*[TemporalBlock(chans[i], chans[i + 1], 3, 2 ** i, 0.1) for i in range(levels)])
        enc = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, norm_first=True)
        self.attn = nn.TransformerEncoder(enc, 2)
        self.head = nn.Linear(width, horizon * len(QUANTILES))
        self.horizon = horizon

    def forward(self, y, cal, sid):
        mu, sd = y.mean(1, keepdim=True), y.std(1, keepdim=True) + 1e-4
        e = self.emb(sid)[:, :, None].expand(-1, -1, y.size(1))
        h = self.tcn(torch.cat([((y - mu) / sd)[:, None], cal, e], 1))
        h = self.attn(h.transpose(1, 2))
        q = self.head(h[:, -1]).view(-1, self.horizon, len(QUANTILES))
        return q * sd[..., None] + mu[..., None]

    def training_step(self, batch, _):
        y, cal, target, sid = batch
        q = self(y, cal, sid)
        err = target[..., None] - q
        t = torch.tensor(QUANTILES, device=self.device)
        loss = torch.maximum(t * err, (t - 1) * err).mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    trainer = pl.Trainer(max_steps=4, accelerator="cuda", devices=1, logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=0.5)
    trainer.fit(Forecaster(), DataLoader(Windows(), batch_size=320, shuffle=True, drop_last=True))
