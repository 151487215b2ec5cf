"""PVTv2 fine-tuning with accelerate."""
import argparse

import timm
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset
from transformers import get_cosine_schedule_with_warmup


class PetsLike(Dataset):
    def __init__(self, n=160 * 4):
        self.n = n
        self.im = torch.rand(3, 224, 224)

    def __getitem__(self, i):
        return {"image": self.im, "label": i % 37}

    def __len__(self):
        return self.n


def training_function(args):
    accelerator = Accelerator(mixed_precision=args.mixed_precision)
    set_seed(args.seed)
    train_dl = DataLoader(PetsLike(), batch_size=args.batch_size, shuffle=True, drop_last=True)
    model = timm.create_model(args.model, pretrained=False, num_classes=37)

    mean = torch.tensor(model.default_cfg["mean"])[None, :, None, None].to(accelerator.device)
    std = torch.tensor(model.default_cfg["std"])[None, :, None, None].to(accelerator.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr / 25)
    sched = get_cosine_schedule_with_warmup(optimizer, 2, len(train_dl))
    model, optimizer, train_dl, sched = accelerator.prepare(model, optimizer, train_dl, sched)

    model.train()
    total_loss = 0
    for step, batch in enumerate(train_dl):
        batch = {k: v.to(accelerator.device) for k, v in batch.items()}
        inputs = (batch["image"] - mean) / std
        outputs = model(inputs)
        loss = torch.nn.functional.cross_entropy(outputs, batch["label"])
        total_loss += loss.detach().float()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        sched.step()
        optimizer.zero_grad()
    accelerator.print("mean loss", (total_loss / (step + 1)).item())
    accelerator.print("peak", torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="pvt_v2_b2")
    ap.add_argument("--mixed_precision", default="bf16")
    ap.add_argument("--batch_size", type=int, default=160)
    ap.add_argument("--lr", type=float, default=3e-2)
    ap.add_argument("--seed", type=int, default=42)
    training_function(ap.parse_args())
