# ImageNet-style ResNet-50 run, channels_last + fp16 GradScaler
import time
import torch
import torch.nn as nn
import torchvision
from torch.amp import autocast, GradScaler

torch.backends.cudnn.benchmark = True
device = torch.device("cuda:0")

BATCH = 192
STEPS = 4

model = torchvision.models.resnet50(weights=None, zero_init_residual=True)
model = model.to(device, memory_format=torch.channels_last)

# no weight decay on norms and biases
decay, no_decay = [], []
for name, p in model.named_parameters():
    (no_decay if p.ndim == 1 else decay).append(p)
optimizer = torch.optim.SGD(
    [{"params": decay, "weight_decay": 5e-5}, {"params": no_decay, "weight_decay": 0.0}],
    lr=0.5, momentum=0.9, nesterov=True,
)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=2)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[2])
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
scaler = GradScaler("cuda")


def accuracy(output, target, topk=(1, 5)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        return [correct[:k].reshape(-1).float().sum(0) * (100.0 / target.size(0)) for k in topk]


model.train()
end = time.time()
for i in range(STEPS):
    images = torch.rand(BATCH, 3, 224, 224).to(device, non_blocking=True, memory_format=torch.channels_last)
    target = torch.randint(0, 1000, (BATCH,)).to(device, non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    with autocast("cuda", dtype=torch.float16):
        output = model(images)
        loss = criterion(output, target)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    scheduler.step()
    acc1, acc5 = accuracy(output, target)
    print(f"[{i}/{STEPS}] loss {loss.item():.4f} acc1 {acc1.item():.2f} acc5 {acc5.item():.2f} {time.time() - end:.2f}s")
    end = time.time()
