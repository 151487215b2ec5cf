"""A deep plain convnet from a list of widths, for small images in large batches."""

import torch
import torch.optim
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn

CFG = [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M"]


def make_layers():
    layers, channels = [], 3
    for v in CFG:
        if v == "M":
            layers += [nn.MaxPool2d(2)]
        else:
            layers += [nn.Conv2d(channels, v, 3, padding=1), nn.BatchNorm2d(v), nn.ReLU(True)]
            channels = v
    return nn.Sequential(*layers)


class VGG(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = make_layers()
        self.classifier = nn.Sequential(
            nn.Dropout(), nn.Linear(512 * 4, 4096), nn.ReLU(True), nn.Linear(4096, 10)
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


net = VGG().cuda().to(precision(options))
if options.size.get("channels_last"):
    net = net.to(memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss().cuda()
optimizer = make_optimizer(net.parameters(), options.optimizer)
running_loss = 0.0
for epoch in range(options.steps):
    step(epoch)
    for i in range(options.accumulate):
        inputs = torch.rand(options.batch, 3, 32, 32).cuda().to(precision(options))
        if options.size.get("channels_last"):
            inputs = inputs.to(memory_format=torch.channels_last)
        labels = torch.randint(10, (options.batch,)).cuda()
        with autocast(options):
            outputs = net(inputs)
            loss = criterion(outputs, labels)
        if options.zero == "before_backward" and not i:
            optimizer.zero_grad()
        loss.backward()
        running_loss += loss.item()
    optimizer.step()
    if options.zero == "after":
        optimizer.zero_grad()

declare(model=net, attention="")
done()
