"""Swin-S fine-grained classification with Accelerate, accumulation over 2 micro batches."""
import timm
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import Dataset, DataLoader
from transformers import get_cosine_schedule_with_warmup


class FakeBirds(Dataset):
    def __init__(self, n, size):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return {"pixel_values": torch.zeros(3, self.size, self.size), "label": i % 200}


def training_function():
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
    set_seed(42)
    train_dl = DataLoader(FakeBirds(384, 224), batch_size=64, shuffle=True, drop_last=True)
    model = timm.create_model("swin_small_patch4_window7_224", pretrained=False, num_classes=200, drop_path_rate=0.2)
    optimizer = torch.optim.AdamW(params=model.parameters(), lr=3e-4, weight_decay=0.05)
    lr_scheduler = get_cosine_schedule_with_warmup(optimizer, 1, 10)
    model, optimizer, train_dl, lr_scheduler = accelerator.prepare(model, optimizer, train_dl, lr_scheduler)

    total_loss = 0
    model.train()
    for step, batch in enumerate(train_dl):
        with accelerator.accumulate(model):
            outputs = model(batch["pixel_values"])
            loss = F.cross_entropy(outputs, batch["label"])
            total_loss += loss.detach().float()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
    accelerator.print("train loss", total_loss.item() / len(train_dl))


training_function()
