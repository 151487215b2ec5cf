"""Sampling from a small decoder with a KV cache that is grown by torch.cat."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in (q, k, v))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.o(y.transpose(1, 2).reshape(b, t, d)), (k, v)


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = Attn(d, h)
        self.fc, self.proj = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, past=None):
        a, present = self.attn(self.ln1(x), past)
        x = x + a
        return x + self.proj(F.gelu(self.fc(self.ln2(x)), approximate="tanh")), present


class Decoder(nn.Module):
    def __init__(self, vocab, d, h, n, ctx):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(ctx, d)
        self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
        self.ln = nn.LayerNorm(d)

    def forward(self, idx, cache=None):
        start = 0 if cache is None else cache[0][0].size(2)
        x = self.tok(idx) + self.pos(torch.arange(start, start + idx.size(1), device=idx.device))
        new = []
        for i, b in enumerate(self.blocks):
            x, p = b(x, None if cache is None else cache[i])
            new.append(p)
        return self.ln(x[:, -1]) @ self.tok.weight.t(), new


@torch.no_grad()
def generate(model, prompt, n_new, temperature=0.8, top_k=50):
    out, cache, cur = prompt, None, prompt
    for _ in range(n_new):
        logits, cache = model(cur, cache)
        logits = logits.float() / temperature
        kth = torch.topk(logits, top_k).values[:, -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
        cur = torch.multinomial(F.softmax(logits, -1), 1)
        out = torch.cat([out, cur], dim=1)
    return out


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--prompt-len", type=int, default=384)
    p.add_argument("--new-tokens", type=int, default=64)
    a = p.parse_args()
    m = Decoder(50257, 1280, 20, 20, 2048).cuda().half().eval()
    for r in range(2):
        prompt = torch.randint(0, 50257, (a.batch, a.prompt_len - 128 * r), device="cuda")
        y = generate(m, prompt, a.new_tokens)
        print("request", r, tuple(y.shape))
        del prompt, y
    print("peak MiB", torch.cuda.max_memory_reserved() >> 20)
