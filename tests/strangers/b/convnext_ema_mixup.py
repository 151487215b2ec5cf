import copy
import math
import random

import timm
import torch
from timm.loss import SoftTargetCrossEntropy
from timm.data.mixup import Mixup
from timm.optim import create_optimizer_v2

cfg = dict(
    arch="convnext_small", img_size=224, batch_size=96, num_classes=1000,
    drop_path=0.4, lr=4e-3, wd=0.05, ema_decay=0.9999, clip=3.0, steps=4,
)


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            e.copy_(self.decay * e + (1.0 - self.decay) * m)


def set_lr(opt, step):
    lr = cfg["lr"] * min(1.0, (step + 1) / 3) * 0.5 * (1 + math.cos(math.pi * step / 100))
    for g in opt.param_groups:
        g["lr"] = lr * g.get("lr_scale", 1.0)


def train():
    random.seed(0)
    model = timm.create_model(cfg["arch"], num_classes=cfg["num_classes"], drop_path_rate=cfg["drop_path"])
    model.cuda()
    ema = EMA(model, cfg["ema_decay"])
    opt = create_optimizer_v2(model, opt="adamw", lr=cfg["lr"], weight_decay=cfg["wd"])
    mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=cfg["num_classes"])
    loss_fn = SoftTargetCrossEntropy()

    model.train()
    for step in range(cfg["steps"]):
        x = torch.randn(cfg["batch_size"], 3, cfg["img_size"], cfg["img_size"], device="cuda")
        y = torch.randint(cfg["num_classes"], (cfg["batch_size"],), device="cuda")
        x, y = mixup(x, y)
        set_lr(opt, step)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = model(x)
            loss = loss_fn(out, y)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
        opt.step()
        ema.update(model)
        print(step, float(loss))


train()
