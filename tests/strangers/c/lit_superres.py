import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class DIV2K(Dataset):
    def __init__(self, n, patch):
        self.n, self.patch = n, patch

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        hr = torch.rand(3, self.patch * 4, self.patch * 4)
        return F.interpolate(hr[None], scale_factor=0.25, mode="bicubic", antialias=True)[0], hr


class ResidualDenseBlock(nn.Module):
    def __init__(self, nf=64, gc=32):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(nf + i * gc, gc if i < 4 else nf, 3, 1, 1) for i in range(5))
        self.lrelu = nn.LeakyReLU(0.2, inplace=True)

    def forward(self, x):
        feats = [x]
        for i, c in enumerate(self.convs):
            y = c(torch.cat(feats, 1))
            if i < 4:
                feats.append(self.lrelu(y))
        return y * 0.2 + x


class RRDB(nn.Module):
    def __init__(self, nf, gc):
        super().__init__()
        self.rdb1, self.rdb2, self.rdb3 = (ResidualDenseBlock(nf, gc) for _ in range(3))

    def forward(self, x):
        return self.rdb3(self.rdb2(self.rdb1(x))) * 0.2 + x


class RRDBNet(nn.Module):
    def __init__(self, nf=64, nb=12, gc=32):
        super().__init__()
        self.first = nn.Conv2d(3, nf, 3, 1, 1)
        self.trunk = nn.Sequential(*[RRDB(nf, gc) for _ in range(nb)])
        self.trunk_conv = nn.Conv2d(nf, nf, 3, 1, 1)
        self.up = nn.Sequential(nn.Conv2d(nf, 4 * nf, 3, 1, 1), nn.PixelShuffle(2), nn.LeakyReLU(0.2),
                                nn.Conv2d(nf, 4 * nf, 3, 1, 1), nn.PixelShuffle(2), nn.LeakyReLU(0.2))
        self.last = nn.Sequential(nn.Conv2d(nf, nf, 3, 1, 1), nn.LeakyReLU(0.2), nn.Conv2d(nf, 3, 3, 1, 1))

    def forward(self, x):
        f = self.first(x)
        return self.last(self.up(f + self.trunk_conv(self.trunk(f))))


class SRModule(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = RRDBNet()
        self.validation_step_outputs = []

    def training_step(self, batch, batch_idx):
        lr, hr = batch
        loss = F.l1_loss(self.net(lr), hr)
        self.log("train_l1", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        lr, hr = batch
        sr = self.net(lr).clamp(0, 1)
        mse = F.mse_loss(sr, hr)
        self.log("val_psnr", -10 * torch.log10(mse), on_epoch=True)
        self.validation_step_outputs.append({"sr": sr, "hr": hr})   # for the image grid below

    def on_validation_epoch_end(self):
        sr = torch.cat([o["sr"] for o in self.validation_step_outputs])
        self.grid = sr[:4].cpu()
        self.validation_step_outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-4, betas=(0.9, 0.99))


class DM(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(DIV2K(16 * 4, 32), batch_size=16, shuffle=True)

    def val_dataloader(self):
        return DataLoader(DIV2K(16, 96), batch_size=4)


if __name__ == "__main__":
    trainer = L.Trainer(max_steps=4, val_check_interval=2, num_sanity_val_steps=1, devices=1, accelerator="gpu",
                        logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(SRModule(), datamodule=DM())
