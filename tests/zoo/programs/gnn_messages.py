"""A graph network by hand: messages along edges, summed at their targets; full batch."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint

NODES, EDGES, WIDTH, LAYERS = 60000, 400000, 128, 6


class MessagePassing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.update = nn.GRUCell(width, width)

    def forward(self, x, edge_index):
        source, target = edge_index
        messages = self.message(torch.cat([x[source], x[target]], dim=-1))
        gathered = torch.zeros_like(x).index_add_(0, target, messages.to(x.dtype))
        return self.update(gathered, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(100, WIDTH)
        self.convs = nn.ModuleList([MessagePassing(WIDTH) for _ in range(LAYERS)])
        self.outp = nn.Linear(WIDTH, 40)

    def forward(self, x, edge_index):
        x = self.inp(x)
        for i, conv in enumerate(self.convs):
            if chosen(options.checkpoint, i):
                x = checkpoint(conv, x, edge_index, use_reentrant=False)
            else:
                x = conv(x, edge_index)
            x = F.dropout(F.relu(x), p=0.5, training=self.training)
        return self.outp(x)


device = "cuda"
x = torch.randn(NODES, 100).to(device, precision(options))
edge_index = torch.randint(NODES, (2, EDGES)).to(device)
y = torch.randint(40, (NODES,)).to(device)
train_mask = (torch.arange(NODES) % 2 == 0).to(device)
model = Net().to(device, precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)


def train():
    model.train()
    optimizer.zero_grad()
    with autocast(options):
        out = model(x, edge_index)
        loss = F.cross_entropy(out, y)
    loss.backward()
    optimizer.step()
    return float(loss)


def test():
    model.eval()
    with torch.set_grad_enabled(options.evaluate == "graph"):
        pred = model(x, edge_index).argmax(dim=-1)
    return float((pred == y).float().mean())


for epoch in range(options.steps):
    step(epoch)
    train()
    if options.evaluate:
        test()

declare(model=model, blocks=model.convs, attention="")
done()
