import lightning as L
import torch
import torchvision.transforms.v2 as T
from torch.utils.data import Dataset, DataLoader
from transformers import ViTMAEConfig, ViTMAEForPreTraining


class FakeImageFolder(Dataset):
    """stands for /data/imagenet/train"""

    def __init__(self, n=600):
        self.n = n
        self.tf = T.Compose([T.RandomResizedCrop(224, antialias=True), T.RandomHorizontalFlip(),
                             T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.tf(torch.rand(3, 240, 240))


class LitMAE(L.LightningModule):
    def __init__(self, lr=1.5e-4, wd=0.05):
        super().__init__()
        self.save_hyperparameters()
        cfg = ViTMAEConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                           mask_ratio=0.75, norm_pix_loss=True)
        self.net = ViTMAEForPreTraining(cfg)

    def training_step(self, batch, batch_idx):
        out = self.net(pixel_values=batch)
        self.log("train/loss", out.loss, prog_bar=True)
        return out.loss

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, betas=(0.9, 0.95),
                                weight_decay=self.hparams.wd)
        sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sch, "interval": "step"}}


def main():
    L.seed_everything(42)
    dl = DataLoader(FakeImageFolder(), batch_size=72, shuffle=True, drop_last=True, pin_memory=True)
    trainer = L.Trainer(accelerator="gpu", devices=1, precision="bf16-mixed", max_steps=3, logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, gradient_clip_val=1.0)
    trainer.fit(LitMAE(), dl)


if __name__ == "__main__":
    main()
