"""Full-batch GraphSAGE / edge-gated message passing without PyG; aggregation by index_add_."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class SageConv(nn.Module):
    def __init__(self, din, dout, edge_dim):
        super().__init__()
        self.lin_self = nn.Linear(din, dout)
        self.lin_nb = nn.Linear(din, dout, bias=False)
        self.gate = nn.Sequential(nn.Linear(edge_dim, 16), nn.SiLU(), nn.Linear(16, dout), nn.Sigmoid())

    def forward(self, x, src, dst, eattr, inv_deg):
        msg = self.lin_nb(x)[src] * self.gate(eattr)
        agg = torch.zeros(x.size(0), msg.size(1), device=x.device, dtype=msg.dtype).index_add_(0, dst, msg)
        return self.lin_self(x) + agg * inv_deg[:, None]


class Net(nn.Module):
    def __init__(self, din, hidden, dout, n_layers, edge_dim=8, p=0.3):
        super().__init__()
        dims = [din] + [hidden] * (n_layers - 1) + [dout]
        self.convs = nn.ModuleList(SageConv(a, b, edge_dim) for a, b in zip(dims, dims[1:]))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(n_layers - 1))
        self.p = p

    def forward(self, x, *g):
        for conv, norm in zip(self.convs[:-1], self.norms):
            x = F.dropout(F.relu(norm(conv(x, *g))), self.p, self.training)
        return self.convs[-1](x, *g)


def main(a):
    dev = "cuda"
    N, E = a.nodes, a.edges
    x = torch.randn(N, 128, device=dev)
    src, dst = torch.randint(0, N, (E,), device=dev), torch.randint(0, N, (E,), device=dev)
    eattr = torch.randn(E, 8, device=dev)
    deg = torch.zeros(N, device=dev).scatter_add_(0, dst, torch.ones(E, device=dev))
    g = (src, dst, eattr, 1.0 / deg.clamp(min=1))
    y = torch.randint(0, 40, (N,), device=dev)
    train_idx = torch.randperm(N)[: N // 2].to(dev)
    val_idx = torch.randperm(N)[: N // 4].to(dev)
    net = Net(128, a.hidden, 40, a.layers).to(dev)
    opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(a.epochs):
        net.train()
        opt.zero_grad()
        loss = F.cross_entropy(net(x, *g)[train_idx], y[train_idx])
        loss.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(x, *g)[val_idx].argmax(-1) == y[val_idx]).float().mean().item()
        print(f"Epoch {epoch:02d}  loss {loss.item():.4f}  val {acc:.4f}")
    print("peak MiB", torch.cuda.max_memory_reserved() // 2**20)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--nodes", type=int, default=169_343)
    ap.add_argument("--edges", type=int, default=1_166_243)
    ap.add_argument("--hidden", type=int, default=256)
    ap.add_argument("--layers", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=5)
    main(ap.parse_args())
