import argparse
import torch
import torchvision
from torch import nn


class Trainer:
    """Validates once before training (sanity / zero-shot numbers), then trains, then validates again."""

    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda", 0)
        self.model = torchvision.models.regnet_y_3_2gf(num_classes=args.classes).to(self.device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-5)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)

    def data(self, n, bs, size):
        for _ in range(n):
            yield torch.zeros(bs, 3, size, size), torch.randint(0, self.args.classes, (bs,))

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total, correct, seen = torch.zeros((), device=self.device), torch.zeros((), device=self.device), 0
        for x, y in self.data(3, self.args.val_batch, 288):
            x, y = x.to(self.device), y.to(self.device)
            out = self.model(x)
            total += self.loss(out, y)
            correct += (out.argmax(1) == y).sum()
            seen += len(y)
        self.model.train()
        return total.item() / 3, correct.item() / seen

    def train(self):
        print("before", self.validate())
        for i, (x, y) in enumerate(self.data(self.args.steps, self.args.batch, 224)):
            x, y = x.to(self.device), y.to(self.device)
            out = self.model(x)
            loss = self.loss(out, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print("train", i, loss.item())
        print("after", self.validate())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=1000)
    p.add_argument("--lr", type=float, default=0.4)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--val-batch", type=int, default=100)
    p.add_argument("--steps", type=int, default=4)
    Trainer(p.parse_args()).train()
