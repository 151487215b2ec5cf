"""A U-Net for segmentation, as in the course everybody copies."""

import torch
from bench import autocast, checkpointed, declare, done, make_optimizer, options, precision, step
from torch import nn


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(self, x):
        return self.double_conv(x)


class UNet(nn.Module):
    def __init__(self, classes=21, features=(64, 128, 256, 512)):
        super().__init__()
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        self.pool = nn.MaxPool2d(2)
        channels = 3
        for feature in features:
            self.downs.append(DoubleConv(channels, feature))
            channels = feature
        self.bottleneck = DoubleConv(features[-1], features[-1] * 2)
        for feature in reversed(features):
            self.ups.append(nn.ConvTranspose2d(feature * 2, feature, kernel_size=2, stride=2))
            self.ups.append(DoubleConv(feature * 2, feature))
        self.final_conv = nn.Conv2d(features[0], classes, kernel_size=1)

    def forward(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottleneck(x)
        for i in range(0, len(self.ups), 2):
            x = self.ups[i](x)
            x = self.ups[i + 1](torch.cat((skips[-1 - i // 2], x), dim=1))
        return self.final_conv(x)


model = UNet()
blocks = [*model.downs, model.bottleneck, *model.ups[1::2]]
checkpointed(blocks, options.checkpoint)
model = model.to("cuda", precision(options))
loss_fn = nn.CrossEntropyLoss()
optimizer = make_optimizer(model.parameters(), options.optimizer)


def train_fn():
    for _ in range(options.accumulate):
        data = torch.rand(options.batch, 3, 256, 256).to("cuda", precision(options))
        targets = torch.randint(21, (options.batch, 256, 256)).to("cuda")
        with autocast(options):
            predictions = model(data)
            loss = loss_fn(predictions, targets)
        if options.zero == "before_backward" and not _:
            optimizer.zero_grad()
        loss.backward()
    optimizer.step()
    if options.zero == "after":
        optimizer.zero_grad()


for epoch in range(options.steps):
    step(epoch)
    train_fn()

declare(model=model, blocks=blocks, attention="")
done()
