"""Serving-like decoder: KV cache allocated once for max_batch x max_seq, prefill then greedy/top-p decode."""
from dataclasses import dataclass
from typing import List
import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 2560
    n_layers: int = 20
    n_heads: int = 20
    n_kv_heads: int = 5
    vocab_size: int = 128256
    hidden: int = 7168
    max_batch_size: int = 16
    max_seq_len: int = 4096


class Attention(nn.Module):
    def __init__(self, a: ModelArgs):
        super().__init__()
        self.a, self.hd = a, a.dim // a.n_heads
        self.wqkv = nn.Linear(a.dim, (a.n_heads + 2 * a.n_kv_heads) * self.hd, bias=False)
        self.wo = nn.Linear(a.dim, a.dim, bias=False)
        shape = (a.max_batch_size, a.max_seq_len, a.n_kv_heads, self.hd)
        self.register_buffer("cache_k", torch.zeros(shape), persistent=False)
        self.register_buffer("cache_v", torch.zeros(shape), persistent=False)

    def forward(self, x, start_pos, mask):
        b, t, _ = x.shape
        a = self.a
        q, k, v = self.wqkv(x).split([a.dim, a.n_kv_heads * self.hd, a.n_kv_heads * self.hd], dim=-1)
        self.cache_k[:b, start_pos:start_pos + t] = k.view(b, t, a.n_kv_heads, self.hd)
        self.cache_v[:b, start_pos:start_pos + t] = v.view(b, t, a.n_kv_heads, self.hd)
        keys = self.cache_k[:b, :start_pos + t].repeat_interleave(a.n_heads // a.n_kv_heads, dim=2)
        values = self.cache_v[:b, :start_pos + t].repeat_interleave(a.n_heads // a.n_kv_heads, dim=2)
        q = q.view(b, t, a.n_heads, self.hd).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, keys.transpose(1, 2), values.transpose(1, 2), attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class Block(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.attention, self.n1, self.n2 = Attention(a), nn.RMSNorm(a.dim), nn.RMSNorm(a.dim)
        self.w13, self.w2 = nn.Linear(a.dim, 2 * a.hidden, bias=False), nn.Linear(a.hidden, a.dim, bias=False)

    def forward(self, x, start_pos, mask):
        x = x + self.attention(self.n1(x), start_pos, mask)
        g, u = self.w13(self.n2(x)).chunk(2, -1)
        return x + self.w2(F.silu(g) * u)


class Llama:
    def __init__(self, a: ModelArgs):
        torch.set_default_dtype(torch.bfloat16)
        torch.set_default_device("cuda")
        self.a = a
        self.emb = nn.Embedding(a.vocab_size, a.dim)
        self.blocks = nn.ModuleList(Block(a) for _ in range(a.n_layers)).eval()
        self.norm, self.out = nn.RMSNorm(a.dim), nn.Linear(a.dim, a.vocab_size, bias=False)

    @torch.inference_mode()
    def forward(self, tokens, start_pos):
        h, t, mask = self.emb(tokens), tokens.size(1), None
        if t > 1:
            mask = torch.full((t, t), float("-inf")).triu(1)
            mask = torch.hstack([torch.zeros((t, start_pos)), mask]).type_as(h)
        for b in self.blocks:
            h = b(h, start_pos, mask)
        return self.out(self.norm(h)).float()

    @torch.inference_mode()
    def generate(self, prompts: List[List[int]], max_gen: int, top_p=0.9):
        n = max(map(len, prompts))
        tokens = torch.zeros((len(prompts), n + max_gen), dtype=torch.long)
        for i, p in enumerate(prompts):
            tokens[i, :len(p)] = torch.tensor(p, dtype=torch.long)
        prev = 0
        for cur in range(n, n + max_gen):
            logits = self.forward(tokens[:, prev:cur], prev)
            probs = torch.softmax(logits[:, -1] / 0.6, dim=-1)
            sort, idx = torch.sort(probs, dim=-1, descending=True)
            cum = torch.cumsum(sort, dim=-1)
            sort[cum - sort > top_p] = 0.0
            sort.div_(sort.sum(dim=-1, keepdim=True))
            tokens[:, cur] = torch.gather(idx, -1, torch.multinomial(sort, 1)).reshape(-1)
            prev = cur
        return tokens.tolist()


llm = Llama(ModelArgs())
for bs, plen in [(8, 512), (16, 300)]:
    out = llm.generate([[1] * plen for _ in range(bs)], max_gen=32)
    print(len(out), len(out[0]))
