import sys
import numpy as np
import torch
import torch.nn as nn

np.random.seed(123)
torch.manual_seed(123)

ln_emb = np.array([1460, 583, 1012000, 220000, 305, 24, 12517, 633, 3, 93145, 5683, 835000, 3194, 27, 14992, 546000,
                   10, 5652, 2173, 4, 704000, 18, 15, 286181, 105, 142572])
m_spa = 64
ln_bot = [13, 512, 256, m_spa]


def create_mlp(ln, sigmoid_layer):
    layers = nn.ModuleList()
    for i in range(0, len(ln) - 1):
        n, m = ln[i], ln[i + 1]
        LL = nn.Linear(int(n), int(m), bias=True)
        W = np.random.normal(0.0, np.sqrt(2 / (m + n)), size=(m, n)).astype(np.float32)
        LL.weight.data = torch.tensor(W, requires_grad=True)
        layers.append(LL)
        layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
    return torch.nn.Sequential(*layers)


class DLRM_Net(nn.Module):
    def __init__(self):
        super(DLRM_Net, self).__init__()
        self.emb_l = nn.ModuleList([nn.EmbeddingBag(int(n), m_spa, mode="sum", sparse=False) for n in ln_emb])
        nf = len(ln_emb) + 1
        num_int = nf * (nf - 1) // 2 + m_spa
        self.bot_l = create_mlp(ln_bot, -1)
        self.top_l = create_mlp([num_int, 1024, 1024, 512, 256, 1], 4)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            V = self.emb_l[k](sparse_index_group_batch, lS_o[k])
            ly.append(V)
        return ly

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        Zflat = Z[:, li.to(x.device), lj.to(x.device)]
        return torch.cat([x] + [Zflat], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_o, lS_i)
        return self.top_l(self.interact_features(x, ly))


def make_random_batch(n, pooling=3):
    X = torch.log(torch.rand(n, 13) * 100 + 1)
    lS_o = torch.arange(0, n * pooling, pooling).repeat(len(ln_emb), 1)
    lS_i = [torch.randint(0, int(e), (n * pooling,)) for e in ln_emb]
    T = torch.randint(0, 2, (n, 1)).float()
    return X, lS_o, lS_i, T


if __name__ == "__main__":
    device = torch.device("cuda", 0)
    dlrm = DLRM_Net().to(device)
    loss_fn = nn.BCELoss(reduction="mean")
    optimizer = torch.optim.Adam(dlrm.parameters(), lr=1e-3)
    for j in range(4):
        X, lS_o, lS_i, T = make_random_batch(16384)
        Z = dlrm(X.to(device), lS_o.to(device), [S.to(device) for S in lS_i])
        E = loss_fn(Z, T.to(device))
        L = E.detach().cpu().numpy()
        optimizer.zero_grad()
        E.backward()
        optimizer.step()
        sys.stdout.write("Finished training it {}, loss {}\n".format(j, L))
