"""The program of crash-to-fix.md: training fits, and the first validation does not."""
import torch
from torch import nn

WIDTH, HEADS, LAYERS, WORDS = 1024, 16, 10, 16_000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.head(self.blocks(self.embed(words)))


def loss_of(model, words):
    logits = model(words)
    return nn.functional.cross_entropy(logits.flatten(0, 1), words.flatten())


def validate(model, batches):
    losses = [loss_of(model, batch) for batch in batches]
    return torch.stack(losses).mean()


def main():
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(2):
        for _ in range(20):
            optimizer.zero_grad()
            words = torch.randint(0, WORDS, (8, 512), device="cuda")
            loss_of(model, words).backward()
            optimizer.step()
        held_out = torch.randint(0, WORDS, (20, 8, 512), device="cuda")
        loss = validate(model, held_out)
        print(f"epoch {epoch}: validation loss {loss.item():.3f}")


main()
