"""A deep perceptron for tables, written as a Sequential of Linear, norm, ReLU and dropout."""

import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn

WIDTH, DEPTH = 2048, 8

layers = [nn.Linear(400, WIDTH)]
for _ in range(DEPTH):
    layers += [nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Dropout(0.2)]
layers += [nn.Linear(WIDTH, 1)]
model = nn.Sequential(*layers).to("cuda", precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)
loss_fn = nn.MSELoss()


def fit(loader):
    for i, batches in enumerate(loader):
        step(i)
        for x, y in batches:
            x, y = x.to("cuda", precision(options)), y.to("cuda", precision(options))
            with autocast(options):
                loss = loss_fn(model(x), y)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=options.zero != "fill")


def batches():
    for _ in range(options.accumulate):
        yield torch.rand(options.batch, 400), torch.rand(options.batch, 1)


fit(batches() for _ in range(options.steps))
declare(model=model, attention="")
done()
