# parallel-residual decoder with ALiBi, attention written out, Lion optimizer (own implementation), fp32 master weights
import math, torch, torch.nn as nn, torch.nn.functional as F

class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg, (b1, b2) = state["exp_avg"], group["betas"]
                update = exp_avg * b1 + p.grad * (1 - b1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(b2).add_(p.grad, alpha=1 - b2)

def alibi(n_heads, T):
    slopes = torch.tensor([2 ** (-8 * (i + 1) / n_heads) for i in range(n_heads)])
    dist = torch.arange(T)[None, :] - torch.arange(T)[:, None]
    bias = slopes[:, None, None] * dist[None]
    return bias.masked_fill(dist[None] > 0, float("-inf"))

class ParallelBlock(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.ln = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.adrop, self.rdrop = nn.Dropout(0.1), nn.Dropout(0.1)
    def forward(self, x, bias):
        B, T, C = x.shape
        y = self.ln(x)
        q, k, v = self.qkv(y).view(B, T, 3, self.h, C // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        att = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(C // self.h)
        att = F.softmax(att + bias, dim=-1, dtype=torch.float32).to(v.dtype)
        att = self.adrop(att)
        a = torch.einsum("bhts,bhsd->bhtd", att, v).transpose(1, 2).reshape(B, T, C)
        return x + self.rdrop(self.out(a)) + self.rdrop(self.down(F.gelu(self.up(y), approximate="tanh")))

class LM(nn.Module):
    def __init__(self, V=32000, d=1024, L=10, h=16, T=768):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.blocks = nn.ModuleList([ParallelBlock(d, h) for _ in range(L)])
        self.ln_f = nn.LayerNorm(d)
        self.head = nn.Linear(d, V, bias=False)
        self.register_buffer("bias", alibi(h, T))
    def forward(self, ids):
        x = self.emb(ids)
        for b in self.blocks:
            x = b(x, self.bias)
        return self.head(self.ln_f(x))

torch.manual_seed(1337)
lm = LM().cuda()
opt = Lion(lm.parameters(), lr=1e-4, weight_decay=0.1)
ACC = 2
for step in range(3):
    opt.zero_grad(set_to_none=False)
    tot = 0.
    for _ in range(ACC):
        ids = torch.randint(0, 32000, (6, 769), device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            logits = lm(ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, 32000).float(), ids[:, 1:].reshape(-1))
        (loss / ACC).backward()
        tot += loss.detach()
    opt.step()
    print(f"{step:4d} {tot.item() / ACC:.3f}")
