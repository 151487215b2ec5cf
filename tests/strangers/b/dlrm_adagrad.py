"""DLRM: 26 categorical tables (some with millions of rows), bottom/top MLP, dot interaction, Adagrad."""
import argparse
import torch
import torch.nn as nn

ROWS = [1460, 583, 2_000_000, 1_500_000, 305, 24, 12517, 633, 3, 93145, 5683, 1_800_000, 3194, 27, 14992, 1_600_000, 10,
        5652, 2173, 4, 1_700_000, 18, 15, 286181, 105, 142572]


def mlp(sizes, sigmoid_last=False):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        last = i == len(sizes) - 2
        layers.append(nn.Sigmoid() if last and sigmoid_last else nn.ReLU())
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, dim) for n in ROWS])
        self.bot = mlp([13, 512, 256, dim])
        n = len(ROWS) + 1
        self.register_buffer("tri", torch.tril_indices(n, n, -1))
        self.top = mlp([dim + n * (n - 1) // 2, 1024, 1024, 512, 256, 1], sigmoid_last=True)

    def forward(self, dense, sparse):
        x = self.bot(dense)
        emb = [t(sparse[:, i]) for i, t in enumerate(self.tables)]
        T = torch.stack([x] + emb, dim=1)
        Z = torch.bmm(T, T.transpose(1, 2))
        return self.top(torch.cat([x, Z[:, self.tri[0], self.tri[1]]], dim=1)).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--mini-batch-size", type=int, default=32768)
    ap.add_argument("--arch-sparse-feature-size", type=int, default=64)
    ap.add_argument("--num-batches", type=int, default=3)
    args = ap.parse_args()
    with torch.device("cuda"):
        model = DLRM(args.arch_sparse_feature_size)
    opt = torch.optim.Adagrad(model.parameters(), lr=0.01)
    bce = nn.BCELoss()
    for j in range(args.num_batches):
        dense = torch.rand(args.mini_batch_size, 13).cuda()
        sparse = torch.stack([torch.randint(0, n, (args.mini_batch_size,)) for n in ROWS], 1).cuda()
        label = torch.randint(0, 2, (args.mini_batch_size,)).float().cuda()
        pred = model(torch.log1p(dense), sparse)
        loss = bce(pred, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(j, loss.item())


if __name__ == "__main__":
    main()
