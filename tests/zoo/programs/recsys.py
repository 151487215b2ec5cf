"""Click prediction: embeddings of categories, interactions, two towers of linear layers."""

import torch
import torch.nn.functional as F
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn


class DLRM(nn.Module):
    def __init__(self, tables=26, rows=40000, dim=64):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, dim) for _ in range(tables)])
        self.bottom = nn.Sequential(
            nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, dim)
        )
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(
            nn.Linear(pairs + dim, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)
        )
        i, j = torch.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("i", i)
        self.register_buffer("j", j)

    def forward(self, dense, categories):
        x = self.bottom(dense)
        vectors = torch.stack([x] + [t(c) for t, c in zip(self.tables, categories.unbind(1))], dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.i, self.j]
        return self.top(torch.cat([x, products], dim=1)).squeeze(1)


model = DLRM().to("cuda", precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)
for i in range(options.steps):
    step(i)
    for _ in range(options.accumulate):
        dense = torch.rand(options.batch, 13).to("cuda", precision(options))
        categories = torch.randint(40000, (options.batch, 26)).to("cuda")
        clicks = torch.rand(options.batch).round().to("cuda", precision(options))
        with autocast(options):
            loss = F.binary_cross_entropy_with_logits(model(dense, categories), clicks)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, attention="")
done()
