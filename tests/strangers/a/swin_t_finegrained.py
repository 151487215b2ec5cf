#!/usr/bin/env python
import argparse, random
import numpy as np
import torch
import torch.nn as nn
from torchvision.models import swin_t
from torchvision.transforms import v2


def set_weight_decay(model, weight_decay):
    """no decay on norm, bias, and relative position tables (as in the torchvision references)."""
    skip = ("relative_position_bias_table",)
    groups = {"decay": [], "none": []}
    for mod_name, mod in model.named_modules():
        for p_name, p in mod.named_parameters(recurse=False):
            if not p.requires_grad:
                continue
            if isinstance(mod, nn.LayerNorm) or p_name == "bias" or p_name in skip:
                groups["none"].append(p)
            else:
                groups["decay"].append(p)
    return [{"params": groups["decay"], "weight_decay": weight_decay},
            {"params": groups["none"], "weight_decay": 0.0}]


def train_one_epoch(model, criterion, optimizer, data, device, epoch, args):
    model.train()
    for i, (image, target) in enumerate(data):
        image, target = image.to(device), target.to(device)
        with torch.amp.autocast("cuda", enabled=args.amp, dtype=torch.bfloat16):
            output = model(image)
            loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        if args.clip_grad_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
        optimizer.step()
        print(f"Epoch: [{epoch}] step {i} loss {loss.item():.3f} lr {optimizer.param_groups[0]['lr']:.2e}")


def main(args):
    device = torch.device(args.device)
    torch.manual_seed(args.seed); np.random.seed(args.seed); random.seed(args.seed)
    model = swin_t(num_classes=args.classes).to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(set_weight_decay(model, 0.05), lr=args.lr)
    main_lr = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=28, eta_min=1e-6)
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=2)
    sched = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, main_lr], milestones=[2])
    base = torch.rand(args.batch_size, 3, 224, 224)
    data = [(base, torch.randint(0, args.classes, (args.batch_size,))) for _ in range(2)]
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, optimizer, data, device, epoch, args)
        sched.step()
    print("peak memory:", torch.cuda.max_memory_reserved(device))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda")
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--classes", type=int, default=555)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--clip-grad-norm", type=float, default=5.0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
    main(p.parse_args())
