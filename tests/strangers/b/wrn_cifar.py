"""WideResNet-28-10 on CIFAR-100 (written out after the paper), fp32, SGD."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader


class BasicBlock(nn.Module):
    def __init__(self, in_planes, out_planes, stride, dropRate=0.0):
        super(BasicBlock, self).__init__()
        self.bn1 = nn.BatchNorm2d(in_planes)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(in_planes, out_planes, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_planes)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out_planes, out_planes, 3, stride=1, padding=1, bias=False)
        self.droprate = dropRate
        self.equalInOut = in_planes == out_planes
        self.convShortcut = None if self.equalInOut else nn.Conv2d(in_planes, out_planes, 1, stride=stride, bias=False)

    def forward(self, x):
        if not self.equalInOut:
            x = self.relu1(self.bn1(x))
        else:
            out = self.relu1(self.bn1(x))
        out = self.relu2(self.bn2(self.conv1(out if self.equalInOut else x)))
        if self.droprate > 0:
            out = F.dropout(out, p=self.droprate, training=self.training)
        out = self.conv2(out)
        return torch.add(x if self.equalInOut else self.convShortcut(x), out)


class WideResNet(nn.Module):
    def __init__(self, depth, num_classes, widen_factor=1, dropRate=0.0):
        super(WideResNet, self).__init__()
        nch = [16, 16 * widen_factor, 32 * widen_factor, 64 * widen_factor]
        n = (depth - 4) // 6
        self.conv1 = nn.Conv2d(3, nch[0], 3, padding=1, bias=False)
        layers = []
        for s in range(3):
            for b in range(n):
                layers.append(BasicBlock(nch[s] if b == 0 else nch[s + 1], nch[s + 1], 2 if (s > 0 and b == 0) else 1, dropRate))
        self.blocks = nn.Sequential(*layers)
        self.bn1 = nn.BatchNorm2d(nch[3])
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(nch[3], num_classes)

    def forward(self, x):
        out = self.relu(self.bn1(self.blocks(self.conv1(x))))
        out = F.avg_pool2d(out, 8)
        return self.fc(out.flatten(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--layers", default=28, type=int)
    ap.add_argument("--widen-factor", default=10, type=int)
    ap.add_argument("--droprate", default=0.3, type=float)
    ap.add_argument("-b", "--batch-size", default=128, type=int)
    ap.add_argument("--lr", default=0.1, type=float)
    args = ap.parse_args()

    data = TensorDataset(torch.rand(512, 3, 32, 32), torch.randint(0, 100, (512,)))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, pin_memory=False)
    model = WideResNet(args.layers, 100, args.widen_factor, args.droprate).cuda()
    print("params: {}".format(sum(p.data.nelement() for p in model.parameters())))
    criterion = nn.CrossEntropyLoss().cuda()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    model.train()
    for input, target in loader:
        input, target = input.cuda(), target.cuda()
        output = model(input)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.data.item())


if __name__ == "__main__":
    main()
