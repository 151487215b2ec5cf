"""R(2+1)D-ish + plain 3D conv action recogniser, small and self-contained."""
from dataclasses import dataclass
import torch
from torch import nn, Tensor


@dataclass
class Cfg:
    frames: int = 16
    size: int = 112
    batch: int = 40
    classes: int = 101
    steps: int = 4
    lr: float = 3e-4


def conv_bn(ci, co, k=(3, 3, 3), s=(1, 1, 1)):
    pad = tuple(x // 2 for x in k)
    return nn.Sequential(nn.Conv3d(ci, co, k, s, pad, bias=False), nn.BatchNorm3d(co), nn.ReLU(inplace=True))


class Factorised(nn.Module):
    """(1,k,k) followed by (k,1,1), with a residual."""

    def __init__(self, ci, co, stride=1):
        super().__init__()
        mid = (ci * co * 27) // (ci * 9 + 3 * co)
        self.space = conv_bn(ci, mid, (1, 3, 3), (1, stride, stride))
        self.time = nn.Sequential(nn.Conv3d(mid, co, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias=False), nn.BatchNorm3d(co))
        self.skip = nn.Identity() if ci == co and stride == 1 else nn.Sequential(
            nn.Conv3d(ci, co, 1, stride, bias=False), nn.BatchNorm3d(co))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.time(self.space(x)) + self.skip(x))


class VideoNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = conv_bn(3, 64, (3, 7, 7), (1, 2, 2))
        self.pool = nn.MaxPool3d((1, 2, 2))
        widths = [64, 64, 128, 256, 512]
        self.body = nn.Sequential(*[
            nn.Sequential(Factorised(a, b, 1 if i == 0 else 2), Factorised(b, b))
            for i, (a, b) in enumerate(zip(widths, widths[1:]))])
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(512, classes)

    def forward(self, clip):
        z = self.body(self.pool(self.stem(clip)))
        return self.fc(self.drop(z.mean(dim=(2, 3, 4))))


def run(cfg: Cfg):
    dev = torch.device("cuda", 0)
    net = VideoNet(cfg.classes).to(dev)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr, weight_decay=1e-4)
    for step in range(cfg.steps):
        clip = torch.randint(0, 256, (cfg.batch, cfg.frames, cfg.size, cfg.size, 3), dtype=torch.uint8)
        clip = clip.to(dev).permute(0, 4, 1, 2, 3).contiguous().float() / 127.5 - 1
        label = torch.randint(cfg.classes, (cfg.batch,), device=dev)
        with torch.autocast("cuda", torch.bfloat16):
            loss = nn.functional.cross_entropy(net(clip), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, float(loss))
    print("peak GiB", torch.cuda.max_memory_reserved(dev) / 2**30)


run(Cfg())
