"""A model in one class: a list for each kind of layer, and one long forward."""

import torch
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.nn import functional as F

N, D, H = 6, 768, 8


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12000, D)
        self.ln1 = nn.ModuleList([nn.LayerNorm(D) for _ in range(N)])
        self.ln2 = nn.ModuleList([nn.LayerNorm(D) for _ in range(N)])
        self.q = nn.ModuleList([nn.Linear(D, D) for _ in range(N)])
        self.k = nn.ModuleList([nn.Linear(D, D) for _ in range(N)])
        self.v = nn.ModuleList([nn.Linear(D, D) for _ in range(N)])
        self.o = nn.ModuleList([nn.Linear(D, D) for _ in range(N)])
        self.fc1 = nn.ModuleList([nn.Linear(D, 4 * D) for _ in range(N)])
        self.fc2 = nn.ModuleList([nn.Linear(4 * D, D) for _ in range(N)])
        self.out = nn.Linear(D, 12000)

    def part(self, i, x):
        b, t, _ = x.shape
        h = self.ln1[i](x)
        q = self.q[i](h).view(b, t, H, D // H).transpose(1, 2)
        k = self.k[i](h).view(b, t, H, D // H).transpose(1, 2)
        v = self.v[i](h).view(b, t, H, D // H).transpose(1, 2)
        if options.attention == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = F.dropout(F.softmax(q @ k.transpose(2, 3) / 10, -1), 0.1) @ v
        x = x + self.o[i](y.transpose(1, 2).reshape(b, t, D))
        return x + self.fc2[i](F.relu(self.fc1[i](self.ln2[i](x))))

    def forward(self, ids):
        x = self.emb(ids)
        for i in range(N):
            if chosen(options.checkpoint, i):
                x = torch.utils.checkpoint.checkpoint(self.part, i, x, use_reentrant=False)
            else:
                x = self.part(i, x)
        return self.out(x)


net = Net().to("cuda", precision(options))
opt = make_optimizer(net.parameters(), options.optimizer)
for s in range(options.steps):
    step(s)
    for _ in range(options.accumulate):
        ids = torch.randint(12000, (options.batch, 600)).cuda()
        with autocast(options):
            loss = F.cross_entropy(net(ids)[:, :-1].transpose(1, 2), ids[:, 1:])
        loss.backward()
    opt.step()
    net.zero_grad(set_to_none=options.zero != "fill")

declare(model=net, block_count=N, attention="fused" if options.attention == "sdpa" else "written")
done()
