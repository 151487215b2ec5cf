"""pl default: sanity validation before the first training step, validation after every epoch."""
import lightning.pytorch as pl
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet34


class Noise(Dataset):
    def __init__(self, n, hw=256):
        self.n, self.x = n, torch.rand(3, hw, hw)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.x, i % 10


class DM(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(Noise(96 * 2), batch_size=96, shuffle=True)

    def val_dataloader(self):
        return DataLoader(Noise(160 * 2), batch_size=160)


class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.backbone = resnet34(num_classes=10)
        self.loss = nn.CrossEntropyLoss()
        self.val_outs = []

    def training_step(self, batch, _):
        x, y = batch
        loss = self.loss(self.backbone(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        z = self.backbone(x)
        self.val_outs.append((z.argmax(-1) == y).float())
        self.log("val_loss", self.loss(z, y), on_epoch=True)

    def on_validation_epoch_end(self):
        self.log("val_acc", torch.cat(self.val_outs).mean())
        self.val_outs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-4)


trainer = pl.Trainer(accelerator="gpu", devices=1, max_epochs=2, logger=False, enable_checkpointing=False,
                     enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1)
trainer.fit(Lit(), datamodule=DM())
print("peak", torch.cuda.max_memory_reserved() >> 20)
