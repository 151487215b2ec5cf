import torch
import torch.utils.data as data
from torch import nn
from torchvision.models.segmentation import deeplabv3_resnet50


class SyntheticCityscapes(data.Dataset):
    def __init__(self, length=16, crop=512):
        self.length, self.crop = length, crop

    def __getitem__(self, idx):
        return torch.full((3, self.crop, self.crop), 0.5), torch.randint(0, 19, (self.crop, self.crop))

    def __len__(self):
        return self.length


def criterion(inputs, target):
    losses = {}
    for name, x in inputs.items():
        losses[name] = nn.functional.cross_entropy(x, target, ignore_index=255)
    if len(losses) == 1:
        return losses["out"]
    return losses["out"] + 0.5 * losses["aux"]


def main():
    device = torch.device("cuda")
    model = deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=19, aux_loss=True)
    model.to(device)
    params_to_optimize = [
        {"params": [p for p in model.backbone.parameters() if p.requires_grad]},
        {"params": [p for p in model.classifier.parameters() if p.requires_grad]},
        {"params": [p for p in model.aux_classifier.parameters() if p.requires_grad], "lr": 0.1},
    ]
    optimizer = torch.optim.SGD(params_to_optimize, lr=0.01, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler("cuda")
    loader = data.DataLoader(SyntheticCityscapes(32), batch_size=8, drop_last=True)
    lr_scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=len(loader) * 2, power=0.9)
    model.train()
    for image, target in loader:
        image, target = image.to(device), target.to(device)
        with torch.amp.autocast("cuda", dtype=torch.float16):
            output = model(image)
            loss = criterion(output, target)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        scaler.step(optimizer)
        scaler.update()
        lr_scheduler.step()
        print("loss", loss.item(), "lr", optimizer.param_groups[0]["lr"])


main()
