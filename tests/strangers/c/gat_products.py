"""3-layer GAT, full batch, no PyG: edge softmax written with scatter ops."""
import torch, torch.nn as nn, torch.nn.functional as F


def scatter_softmax(score, dst, n):
    m = torch.full((n, score.size(1)), float('-inf'), device=score.device)
    m = m.scatter_reduce(0, dst[:, None].expand_as(score), score.detach(), 'amax')
    e = (score - m[dst]).exp()
    z = torch.zeros(n, score.size(1), device=score.device).index_add_(0, dst, e)
    return e / (z[dst] + 1e-16)


class GATConv(nn.Module):
    def __init__(self, fin, fout, heads, concat=True):
        super().__init__()
        self.h, self.f, self.concat = heads, fout, concat
        self.lin = nn.Linear(fin, heads * fout, bias=False)
        self.a_src = nn.Parameter(torch.randn(1, heads, fout) * .1)
        self.a_dst = nn.Parameter(torch.randn(1, heads, fout) * .1)
        self.res = nn.Linear(fin, heads * fout if concat else fout)

    def forward(self, x, edge_index):
        n = x.size(0)
        src, dst = edge_index
        z = self.lin(x).view(n, self.h, self.f)
        alpha = (z * self.a_src).sum(-1)[src] + (z * self.a_dst).sum(-1)[dst]
        alpha = scatter_softmax(F.leaky_relu(alpha, 0.2), dst, n)
        alpha = F.dropout(alpha, 0.1, self.training)
        msg = z[src] * alpha.unsqueeze(-1)
        out = torch.zeros_like(z).index_add_(0, dst, msg)
        out = out.flatten(1) if self.concat else out.mean(1)
        return out + self.res(x)


class GAT(nn.Module):
    def __init__(self, fin=100, hid=64, ncls=47, heads=4):
        super().__init__()
        self.convs = nn.ModuleList([GATConv(fin, hid, heads), GATConv(hid * heads, hid, heads),
                                    GATConv(hid * heads, ncls, heads, concat=False)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(hid * heads) for _ in range(2)])

    def forward(self, x, ei):
        for c, b in zip(self.convs[:-1], self.norms):
            x = F.dropout(F.elu(b(c(x, ei))), 0.5, self.training)
        return self.convs[-1](x, ei)


N, E = 220_000, 2_600_000
x = torch.randn(N, 100)
ei = torch.randint(0, N, (2, E))
y = torch.randint(0, 47, (N,))
train_idx = torch.randperm(N)[:60_000]

dev = 'cuda'
model = GAT().to(dev)
x, ei, y, train_idx = x.to(dev), ei.to(dev), y.to(dev), train_idx.to(dev)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(1, 4):
    model.train()
    opt.zero_grad()
    out = model(x, ei)[train_idx]
    loss = F.cross_entropy(out, y[train_idx])
    loss.backward()
    opt.step()
    print(f'Epoch: {epoch:02d}, Loss: {loss:.4f}')
