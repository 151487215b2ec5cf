"""A GPT without modules: weights in dictionaries, functions that use them."""

import torch
import torch.nn.functional as F
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch.utils.checkpoint import checkpoint

D, H, T, V, N = 640, 10, 512, 16384, 8


def weight(*shape):
    return torch.zeros(*shape, device="cuda", dtype=precision(options)).requires_grad_()


def make_layer():
    return {
        "g1": weight(D), "b1": weight(D), "wqkv": weight(3 * D, D), "wo": weight(D, D),
        "g2": weight(D), "b2": weight(D), "w1": weight(4 * D, D), "w2": weight(D, 4 * D),
    }  # fmt: skip


def attend(q, k, v):
    if options.attention == "sdpa":
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    w = torch.matmul(q, k.transpose(-1, -2)) * (D // H) ** -0.5
    w = w + torch.full((T, T), float("-inf"), device=w.device, dtype=w.dtype).triu(1)
    return torch.matmul(torch.softmax(w, dim=-1), v)


def layer(p, x):
    h = F.layer_norm(x, (D,), p["g1"], p["b1"])
    q, k, v = (t.view(*t.shape[:2], H, D // H).transpose(1, 2) for t in F.linear(h, p["wqkv"]).chunk(3, -1))
    a = attend(q, k, v).transpose(1, 2).reshape(x.shape)
    x = x + F.linear(a, p["wo"])
    h = F.layer_norm(x, (D,), p["g2"], p["b2"])
    return x + F.linear(F.gelu(F.linear(h, p["w1"])), p["w2"])


def forward(params, ids):
    x = F.embedding(ids, params["wte"]) + params["wpe"]
    for i, p in enumerate(params["layers"]):
        if chosen(options.checkpoint, i):
            x = checkpoint(layer, p, x, use_reentrant=False)
        else:
            x = layer(p, x)
    return F.linear(F.layer_norm(x, (D,)), params["wte"])


params = {"wte": weight(V, D), "wpe": weight(T, D), "layers": [make_layer() for _ in range(N)]}
flat = [params["wte"], params["wpe"]] + [w for p in params["layers"] for w in p.values()]
opt = make_optimizer(flat, options.optimizer)

for it in range(options.steps):
    step(it)
    for _ in range(options.accumulate):
        ids = torch.randint(0, V, (options.batch, T + 1), device="cuda")
        with autocast(options):
            logits = forward(params, ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, V), ids[:, 1:].reshape(-1)) / options.accumulate
        loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=options.zero != "fill")

# Its weights are plain tensors, which labels take for something else.
declare(block_count=N, attention="fused" if options.attention == "sdpa" else "written",
        parameter_bytes=sum(w.nbytes for w in flat), labels_weak=True)  # fmt: skip
done()
