import math
from contextlib import suppress
from functools import partial

import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import ModelEmaV3, dispatch_clip_grad

DEVICE = torch.device("cuda:0")
BATCH = 224
STEPS = 5

model = timm.create_model("convnext_tiny", pretrained=False, num_classes=1000, drop_path_rate=0.1)
model.to(DEVICE)
model_ema = ModelEmaV3(model, decay=0.9998)

mixup_fn = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=1000)
optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05, filter_bias_and_bn=True)
scheduler, _ = create_scheduler_v2(optimizer, sched="cosine", num_epochs=10, warmup_epochs=2)
amp_autocast = partial(torch.autocast, device_type="cuda", dtype=torch.bfloat16)
loss_fn = SoftTargetCrossEntropy().to(DEVICE)


def train_one_epoch(epoch, updates=0):
    model.train()
    optimizer.zero_grad()
    for step in range(STEPS):
        x = torch.randn(BATCH, 3, 224, 224, device=DEVICE)
        y = torch.randint(0, 1000, (BATCH,), device=DEVICE)
        x, y = mixup_fn(x, y)
        with amp_autocast():
            out = model(x)
            loss = loss_fn(out, y)
        loss.backward()
        dispatch_clip_grad(model.parameters(), value=5.0, mode="norm")
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
        model_ema.update(model, step=updates)
        scheduler.step_update(num_updates=updates)
    print("loss", loss.item())


train_one_epoch(0)
print(f"max mem: {torch.cuda.max_memory_reserved() / 1e9:.2f} GB")
