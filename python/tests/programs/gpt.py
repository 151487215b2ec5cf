"""A small GPT that trains on a device, and runs out of memory if it is asked to."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + self.out(torch.softmax(q @ k.transpose(-2, -1), -1) @ v)
        return x + self.down(F.gelu(self.up(x)))


class GPT(nn.Module):
    def __init__(self, layers=2, width=256, words=4096):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batches(steps, large):
    """Batches of 8 documents; the large one does not fit."""
    for step in range(steps):
        yield torch.zeros(8, 256 * (64 if step == large else 1), dtype=torch.long).cuda()


def train_step(model, optimizer, tokens):
    loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--large", type=int, help="the step whose batch does not fit")
    parser.add_argument("--catch", action="store_true", help="go on with the next batch then")
    args = parser.parse_args()
    model = GPT().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for tokens in batches(args.steps, args.large):
        try:
            train_step(model, optimizer, tokens)
        except torch.cuda.OutOfMemoryError:
            if not args.catch:
                raise
            optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
