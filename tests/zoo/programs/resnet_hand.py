"""A residual network by hand, in a class that holds everything, with a schedule and a metric."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


def conv_bn(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout))


class Unit(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.a, self.b = conv_bn(cin, cout, stride), conv_bn(cout, cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False) if cin != cout else None

    def forward(self, x):
        out = self.b(F.relu(self.a(x)))
        return F.relu(out + (x if self.skip is None else self.skip(x)))


class Experiment:
    def __init__(self, widths=(64, 128, 256), depth=4):
        self.stem = conv_bn(3, widths[0])
        units, cin = [], widths[0]
        for w in widths:
            for d in range(depth):
                units.append(Unit(cin, w, 2 if d == 0 and w != widths[0] else 1))
                cin = w
        self.units = nn.ModuleList(units)
        self.head = nn.Linear(cin, 100)
        self.net = nn.ModuleList([self.stem, self.units, self.head]).cuda().to(precision(options))
        self.opt = make_optimizer(self.net.parameters(), options.optimizer)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, 10)
        self.correct = torch.zeros((), device="cuda")

    def predict(self, x):
        x = F.relu(self.stem(x))
        for i, unit in enumerate(self.units):
            if chosen(options.checkpoint, i):
                x = checkpoint(unit, x, use_reentrant=False)
            else:
                x = unit(x)
        return self.head(x.mean((2, 3)))

    def train_batch(self):
        for _ in range(options.accumulate):
            x = torch.rand(options.batch, 3, 64, 64).cuda().to(precision(options))
            y = torch.randint(100, (options.batch,)).cuda()
            with autocast(options):
                out = self.predict(x)
                loss = F.cross_entropy(out, y)
            loss.backward()
            self.correct += (out.argmax(1) == y).sum()
        self.opt.step()
        self.opt.zero_grad(set_to_none=options.zero != "fill")
        self.schedule.step()

    def run(self):
        for i in range(options.steps):
            step(i)
            self.train_batch()


experiment = Experiment()
experiment.run()
declare(model=experiment.net, blocks=experiment.units, attention="")
done()
