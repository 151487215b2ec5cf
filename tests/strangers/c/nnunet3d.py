"""Patch-based 3D segmentation of CT volumes with deep supervision (residual encoder)."""
from typing import List, Sequence, Tuple
import numpy as np
import torch
from torch import nn, autocast
from torch.amp import GradScaler


class ConvNormAct(nn.Sequential):
    def __init__(self, cin, cout, stride=1, act=True):
        layers: List[nn.Module] = [nn.Conv3d(cin, cout, 3, stride, 1), nn.InstanceNorm3d(cout, eps=1e-5, affine=True)]
        if act:
            layers.append(nn.LeakyReLU(1e-2, inplace=True))
        super().__init__(*layers)


class ResBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1, self.conv2 = ConvNormAct(cin, cout, stride), ConvNormAct(cout, cout, act=False)
        self.act = nn.LeakyReLU(1e-2, inplace=True)
        self.skip = nn.Identity()
        if stride != 1 or cin != cout:
            self.skip = nn.Sequential(nn.AvgPool3d(stride, stride) if stride != 1 else nn.Identity(),
                                      nn.Conv3d(cin, cout, 1, bias=False), nn.InstanceNorm3d(cout, affine=True))

    def forward(self, x):
        return self.act(self.conv2(self.conv1(x)) + self.skip(x))


class ResEncUNet(nn.Module):
    def __init__(self, cin: int, n_cls: int, feats: Sequence[int] = (32, 64, 128, 256, 320, 320),
                 blocks: Sequence[int] = (1, 3, 4, 6, 6, 6)):
        super().__init__()
        self.stem = ConvNormAct(cin, feats[0])
        self.stages = nn.ModuleList()
        prev = feats[0]
        for i, (f, n) in enumerate(zip(feats, blocks)):
            self.stages.append(nn.Sequential(*[ResBlock(prev if j == 0 else f, f, 2 if (i and j == 0) else 1)
                                               for j in range(n)]))
            prev = f
        self.ups, self.decs, self.heads = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for lo, hi in zip(feats[::-1][:-1], feats[::-1][1:]):
            self.ups.append(nn.ConvTranspose3d(lo, hi, 2, 2))
            self.decs.append(ConvNormAct(2 * hi, hi))
            self.heads.append(nn.Conv3d(hi, n_cls, 1))

    def forward(self, x) -> List[torch.Tensor]:
        x = self.stem(x)
        skips = []
        for s in self.stages:
            x = s(x)
            skips.append(x)
        outs = []
        for up, dec, head, sk in zip(self.ups, self.decs, self.heads, skips[::-1][1:]):
            x = dec(torch.cat((up(x), sk), 1))
            outs.append(head(x))
        return outs[::-1]


class DC_and_CE(nn.Module):
    def forward(self, logits, target):
        ce = nn.functional.cross_entropy(logits, target[:, 0].long())
        p = logits.softmax(1)
        with torch.no_grad():
            onehot = torch.zeros(p.shape, device=p.device, dtype=torch.bool)
            onehot.scatter_(1, target.long(), 1)
        axes = (2, 3, 4)
        inter = (p * onehot).sum(axes)
        dc = (2 * inter + 1e-5) / (p.sum(axes) + onehot.sum(axes) + 1e-5).clip(1e-8)
        return ce - dc[:, 1:].mean()


class Trainer3d:
    num_iterations_per_epoch = 3
    patch: Tuple[int, int, int] = (96, 128, 128)

    def __init__(self, batch_size=2):
        self.device = torch.device("cuda:0")
        self.bs = batch_size
        self.network = ResEncUNet(1, 4).to(self.device)
        self.optimizer = torch.optim.SGD(self.network.parameters(), 1e-2, weight_decay=3e-5, momentum=0.99, nesterov=True)
        self.grad_scaler = GradScaler("cuda")
        w = np.array([1 / (2 ** i) for i in range(5)])
        w[-1] = 0
        self.ds_weights = w / w.sum()
        self.loss = DC_and_CE()

    def get_batch(self):
        data = torch.randn(self.bs, 1, *self.patch)
        target = [torch.randint(0, 4, (self.bs, 1, *[s // 2 ** i for s in self.patch])) for i in range(5)]
        return {"data": data, "target": target}

    def train_step(self, batch) -> dict:
        data = batch["data"].to(self.device, non_blocking=True)
        target = [i.to(self.device, non_blocking=True) for i in batch["target"]]
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device.type, enabled=True):
            output = self.network(data)
            l = sum(w * self.loss(o, t) for w, o, t in zip(self.ds_weights, output, target) if w != 0)
        self.grad_scaler.scale(l).backward()
        self.grad_scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 12)
        self.grad_scaler.step(self.optimizer)
        self.grad_scaler.update()
        return {"loss": l.detach().cpu().numpy()}

    def run_training(self):
        self.network.train()
        for _ in range(self.num_iterations_per_epoch):
            print(self.train_step(self.get_batch()))


if __name__ == "__main__":
    Trainer3d().run_training()
