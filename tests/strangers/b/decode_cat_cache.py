# autoregressive sampling, KV cache grown with torch.cat, hand-written GPT, fp16
import torch, torch.nn as nn, torch.nn.functional as F

D, H, L, V, MAXLEN = 2048, 16, 24, 50400, 1024

class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.o = nn.Linear(D, D)
    def forward(self, x, past=None):
        B, T, _ = x.shape
        q, k, v = [t.view(B, T, H, D // H).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]
        if past is not None:
            k = torch.cat((past[0], k), dim=2)
            v = torch.cat((past[1], v), dim=2)
        w = torch.matmul(q, k.transpose(-1, -2)) / (D // H) ** 0.5
        if past is None:
            mask = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
            w = w.masked_fill(~mask, torch.finfo(w.dtype).min)
        y = torch.matmul(w.softmax(-1), v).transpose(1, 2).reshape(B, T, D)
        return self.o(y), (k, v)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n1, self.n2 = Attn(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.m = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
    def forward(self, x, past):
        a, present = self.a(self.n1(x), past)
        x = x + a
        return x + self.m(self.n2(x)), present

class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(MAXLEN, D)
        self.layers, self.ln = nn.ModuleList([Layer() for _ in range(L)]), nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)
    def forward(self, ids, pasts=None):
        start = 0 if pasts is None else pasts[0][0].size(2)
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.size(1), device=ids.device))
        presents = []
        for i, l in enumerate(self.layers):
            x, p = l(x, None if pasts is None else pasts[i])
            presents.append(p)
        return self.head(self.ln(x)), presents

@torch.no_grad()
def generate(model, ids, n, temperature=0.8, top_k=50):
    pasts, cur = None, ids
    for _ in range(n):
        logits, pasts = model(cur, pasts)
        logits = logits[:, -1, :].float() / temperature
        v, _ = torch.topk(logits, top_k)
        logits[logits < v[:, [-1]]] = -float("inf")
        cur = torch.multinomial(F.softmax(logits, dim=-1), 1)
        ids = torch.cat([ids, cur], dim=1)
    return ids

with torch.device("cuda"):
    model = GPT().half().eval()
for prompt_len in (200, 333):
    prompts = torch.randint(0, V, (24, prompt_len), device="cuda")
    print(generate(model, prompts, 48).shape)
