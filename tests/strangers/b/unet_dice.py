"""2D U-Net, binary + multi-class segmentation of 384x384 slices (milesial-like layout)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim


class DoubleConv(nn.Module):
    def __init__(self, i, o, mid=None):
        super().__init__()
        mid = mid or o
        self.double_conv = nn.Sequential(
            nn.Conv2d(i, mid, kernel_size=3, padding=1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(inplace=True),
            nn.Conv2d(mid, o, kernel_size=3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self, i, o, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(i, o, i // 2)
        else:
            self.up = nn.ConvTranspose2d(i, i // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(i, o)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        dy, dx = x2.size(2) - x1.size(2), x2.size(3) - x1.size(3)
        x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, cin, classes, bilinear=False):
        super().__init__()
        f = 2 if bilinear else 1
        self.inc = DoubleConv(cin, 64)
        self.downs = nn.ModuleList([
            nn.Sequential(nn.MaxPool2d(2), DoubleConv(a, b)) for a, b in [(64, 128), (128, 256), (256, 512), (512, 1024 // f)]])
        self.ups = nn.ModuleList([Up(a, b, bilinear) for a, b in [(1024, 512 // f), (512, 256 // f), (256, 128 // f), (128, 64)]])
        self.outc = nn.Conv2d(64, classes, 1)

    def forward(self, x):
        feats = [self.inc(x)]
        for d in self.downs:
            feats.append(d(feats[-1]))
        x = feats.pop()
        for u in self.ups:
            x = u(x, feats.pop())
        return self.outc(x)


def dice_loss(pred, target, eps=1e-6):
    inter = 2 * (pred * target).sum(dim=(-1, -2))
    sets = pred.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    return 1 - ((inter + eps) / (sets + eps)).mean()


def train_net(net, device, batch_size=12, lr=1e-5, n_classes=4, amp=True):
    optimizer = optim.RMSprop(net.parameters(), lr=lr, weight_decay=1e-8, momentum=0.999, foreach=True)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=5)
    criterion = nn.CrossEntropyLoss()
    for step in range(4):
        images = torch.randn(batch_size, 1, 384, 384).to(device=device, dtype=torch.float32)
        true_masks = torch.randint(0, n_classes, (batch_size, 384, 384)).to(device=device, dtype=torch.long)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=amp):
            masks_pred = net(images)
            loss = criterion(masks_pred, true_masks)
            loss += dice_loss(F.softmax(masks_pred, dim=1).float(),
                              F.one_hot(true_masks, n_classes).permute(0, 3, 1, 2).float())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step(0.1 * step)
        print(f"step {step} loss {loss.item()}")


if __name__ == "__main__":
    dev = torch.device("cuda")
    train_net(UNet(1, 4, bilinear=False).to(dev), dev)
