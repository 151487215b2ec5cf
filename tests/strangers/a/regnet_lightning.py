import lightning as L
import timm
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class ImageClassifier(L.LightningModule):
    def __init__(self, arch="regnety_032", num_classes=120, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.net = timm.create_model(arch, num_classes=num_classes)

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = F.cross_entropy(logits, y)
        self.log("train/loss", loss, prog_bar=False)
        return loss

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9, nesterov=True, weight_decay=5e-5)
        sch = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=self.hparams.lr, total_steps=10)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sch, "interval": "step"}}


def collate(items):
    xs, ys = zip(*items)
    return torch.stack(xs), torch.stack(ys)


if __name__ == "__main__":
    L.seed_everything(7)
    img = torch.rand(1, 3, 224, 224).expand(48 * 8, -1, -1, -1)
    loader = DataLoader(TensorDataset(img, torch.randint(0, 120, (48 * 8,))), batch_size=48, collate_fn=collate)
    trainer = L.Trainer(
        max_epochs=1, accelerator="gpu", devices=1, precision="bf16-mixed", accumulate_grad_batches=2,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        gradient_clip_val=1.0,
    )
    trainer.fit(ImageClassifier(), loader)
    print("peak:", torch.cuda.max_memory_reserved() / 2**30, "GiB")
