import logging
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format='%(levelname)s: %(message)s')


class DoubleConv(nn.Module):
    def __init__(self, cin, cout, mid=None):
        super().__init__()
        mid = mid or cout
        self.double_conv = nn.Sequential(
            nn.Conv2d(cin, mid, 3, padding=1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(inplace=True),
            nn.Conv2d(mid, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)
        self.conv = DoubleConv(cin, cout, cin // 2)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        dy, dx = x2.size(2) - x1.size(2), x2.size(3) - x1.size(3)
        x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels=3, n_classes=2, base=64):
        super().__init__()
        w = [base, base * 2, base * 4, base * 8, base * 8]
        self.inc = DoubleConv(n_channels, w[0])
        self.downs = nn.ModuleList(
            nn.Sequential(nn.MaxPool2d(2), DoubleConv(w[i], w[i + 1])) for i in range(4))
        self.ups = nn.ModuleList([Up(base * 16, base * 4), Up(base * 8, base * 2), Up(base * 4, base), Up(base * 2, base)])
        self.outc = nn.Conv2d(base, n_classes, 1)

    def forward(self, x):
        feats = [self.inc(x)]
        for d in self.downs:
            feats.append(d(feats[-1]))
        x = feats.pop()
        for u in self.ups:
            x = u(x, feats.pop())
        return self.outc(x)


def dice_loss(inp, target, eps=1e-6):
    inter = 2 * (inp * target).sum(dim=(-1, -2))
    sets = inp.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    return 1 - ((inter + eps) / (sets + eps)).mean()


def train_model(model, device, steps=4, batch_size=4, lr=1e-5, amp=True, gradient_clipping=1.0):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=lr, weight_decay=1e-8, momentum=0.999, foreach=True)
    grad_scaler = torch.amp.GradScaler('cuda', enabled=amp)
    criterion = nn.CrossEntropyLoss()
    model.train()
    epoch_loss = 0
    for step in range(steps):
        images = torch.rand(batch_size, 3, 640, 959)
        true_masks = torch.randint(0, 2, (batch_size, 640, 959))
        images = images.to(device=device, dtype=torch.float32, memory_format=torch.channels_last)
        true_masks = true_masks.to(device=device, dtype=torch.long)
        with torch.autocast('cuda', enabled=amp):
            masks_pred = model(images)
            loss = criterion(masks_pred, true_masks)
            loss += dice_loss(F.softmax(masks_pred, dim=1).float(),
                              F.one_hot(true_masks, 2).permute(0, 3, 1, 2).float())
        optimizer.zero_grad(set_to_none=True)
        grad_scaler.scale(loss).backward()
        grad_scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), gradient_clipping)
        grad_scaler.step(optimizer)
        grad_scaler.update()
        epoch_loss += loss.item()
        logging.info('step %d loss %.4f', step, loss.item())


if __name__ == '__main__':
    device = torch.device('cuda')
    model = UNet().to(memory_format=torch.channels_last).to(device=device)
    train_model(model, device)
    logging.info('peak reserved %d MiB', torch.cuda.max_memory_reserved() // 2**20)
