# minLoRA flavour: low-rank update as a weight parametrization
import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D


class LoRAParam(nn.Module):
    def __init__(self, fan_out, fan_in, rank=8, alpha=16):
        super().__init__()
        self.A = nn.Parameter(torch.randn(rank, fan_in) * 0.02)
        self.B = nn.Parameter(torch.zeros(fan_out, rank))
        self.scale = alpha / rank

    def forward(self, W):
        return W + (self.B @ self.A).view(W.shape) * self.scale


net = GPT2LMHeadModel(GPT2Config(n_embd=1024, n_layer=24, n_head=16))
n = 0
for m in net.modules():
    if isinstance(m, Conv1D) and m.weight.shape[1] in (1024, 3072):
        parametrize.register_parametrization(m, "weight", LoRAParam(*m.weight.shape))
        n += 1
for name, p in net.named_parameters():
    p.requires_grad_(name.endswith(".A") or name.endswith(".B"))
net.to("cuda").train()
print(n, "parametrized layers")

opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
for it in range(4):
    tok = torch.randint(0, 50257, (4, 640), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = net(tok, labels=tok).loss
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(it, loss.item(), torch.cuda.memory_allocated() >> 20)
print("peak", torch.cuda.max_memory_reserved() >> 20, "MiB")
