import torch
from torch import nn
import torch.nn.functional as F

cfg = dict(vocab=16384, d=1024, layers=10, heads=16, ctx=768, bs=12)

class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.h = h
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask):
        B, T, D = x.shape
        y = self.ln1(x)
        sh = lambda t: t.view(B, T, self.h, -1).transpose(1, 2)
        q, k, v = sh(self.q(y)), sh(self.k(y)), sh(self.v(y))
        att = q @ k.transpose(-2, -1) / (D // self.h) ** 0.5
        att = att.masked_fill(mask, float('-inf'))
        att = self.drop(F.softmax(att, dim=-1))
        x = x + self.drop(self.o((att @ v).transpose(1, 2).reshape(B, T, D)))
        return x + self.drop(self.down(F.relu(self.up(self.ln2(x))) ** 2))

class LM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(c['vocab'], c['d']), nn.Embedding(c['ctx'], c['d'])
        self.blocks = nn.ModuleList([Block(c['d'], c['heads']) for _ in range(c['layers'])])
        self.ln, self.out = nn.LayerNorm(c['d']), nn.Linear(c['d'], c['vocab'])
        self.register_buffer('mask', torch.ones(c['ctx'], c['ctx'], dtype=torch.bool).triu(1))

    def forward(self, i):
        T = i.shape[1]
        x = self.tok(i) + self.pos(torch.arange(T, device=i.device))
        for b in self.blocks:
            x = b(x, self.mask[:T, :T])
        return self.out(self.ln(x))

data = torch.randint(0, cfg['vocab'], (400_000,))
def sample(n):
    s = torch.randint(0, len(data) - cfg['ctx'] - 1, (n,))
    return torch.stack([data[a:a + cfg['ctx'] + 1] for a in s]).cuda()

model = LM(cfg).cuda()
opt = torch.optim.AdamW(model.parameters(), 3e-4)

@torch.no_grad()
def evaluate(n_batches=5):
    model.eval()
    all_logits, all_targets = [], []
    for _ in range(n_batches):
        b = sample(cfg['bs'])
        with torch.autocast('cuda', dtype=torch.bfloat16):
            all_logits.append(model(b[:, :-1]))
        all_targets.append(b[:, 1:])
    logits = torch.cat(all_logits).flatten(0, 1)
    nll = F.cross_entropy(logits.float(), torch.cat(all_targets).flatten())
    model.train()
    return nll.exp()

for step in range(4):
    if step % 2 == 0:
        print('ppl', evaluate().item())
    b = sample(cfg['bs'])
    with torch.autocast('cuda', dtype=torch.bfloat16):
        logits = model(b[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), b[:, 1:].flatten())
    loss.backward()
    opt.step()
    opt.zero_grad()
print('ppl', evaluate().item())
