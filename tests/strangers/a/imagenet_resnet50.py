"""ImageNet-style training, trimmed from the classic example script."""
import argparse
import time

import torch
import torch.nn as nn
import torchvision.models as models

parser = argparse.ArgumentParser(description="PyTorch ImageNet Training")
parser.add_argument("-a", "--arch", default="resnet50")
parser.add_argument("-b", "--batch-size", default=256, type=int)
parser.add_argument("--lr", default=0.1, type=float)
parser.add_argument("--momentum", default=0.9, type=float)
parser.add_argument("--wd", default=1e-4, type=float)
parser.add_argument("--iters", default=4, type=int)
parser.add_argument("-p", "--print-freq", default=1, type=int)


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.sum = self.count = self.val = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return f"{self.name} {self.val:.3f} ({self.avg:.3f})"


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res


def fake_loader(bs, n):
    images = torch.rand(bs, 3, 224, 224)
    for _ in range(n):
        yield images, torch.randint(0, 1000, (bs,))


def train(loader, model, criterion, optimizer, device, args):
    losses, top1, top5 = AverageMeter("Loss"), AverageMeter("Acc@1"), AverageMeter("Acc@5")
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)

        output = model(images)
        loss = criterion(output, target)

        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        top5.update(acc5[0].item(), images.size(0))

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.print_freq == 0:
            print(f"[{i}] {time.time() - end:.2f}s", losses, top1, top5)
            end = time.time()


def main():
    args = parser.parse_args()
    device = torch.device("cuda")
    model = models.__dict__[args.arch]().to(device)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.wd)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
    train(fake_loader(args.batch_size, args.iters), model, criterion, optimizer, device, args)
    scheduler.step()
    print("peak MiB", torch.cuda.max_memory_allocated() / 2**20, torch.cuda.max_memory_reserved() / 2**20)


if __name__ == "__main__":
    main()
