"""Instruction tuning with LoRA written by hand (no peft): frozen bf16 base, fp32 adapters, checkpointing on."""
import argparse
import math
import torch
import torch.nn as nn
from transformers import MistralConfig, MistralForCausalLM


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r=16, alpha=32, dropout=0.05):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, device=base.weight.device))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, device=base.weight.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        y = self.base(x)
        z = self.dropout(x.to(self.lora_A.dtype))
        z = (z @ self.lora_A.t()) @ self.lora_B.t()
        return y + (z * self.scaling).to(y.dtype)


def inject(model, names, r):
    for module in list(model.modules()):
        for child_name, child in list(module.named_children()):
            if child_name in names and isinstance(child, nn.Linear):
                setattr(module, child_name, LoRALinear(child, r=r))


def main(a):
    config = MistralConfig(vocab_size=32768, hidden_size=2048, intermediate_size=5632, num_hidden_layers=22,
                           num_attention_heads=32, num_key_value_heads=8, sliding_window=None)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = MistralForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    model.requires_grad_(False)
    inject(model, {"q_proj", "v_proj", "gate_proj"}, a.r)
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    trainable = [p for p in model.parameters() if p.requires_grad]
    print(f"trainable params: {sum(p.numel() for p in trainable):,}")
    optimizer = torch.optim.AdamW(trainable, lr=2e-4, weight_decay=0.0)

    model.train()
    for step in range(a.steps):
        for micro in range(a.accum):
            ids = torch.randint(0, 32768, (a.bs, a.len)).cuda()
            labels = ids.clone()
            labels[:, : a.len // 4] = -100          # prompt part not scored
            out = model(input_ids=ids, labels=labels, use_cache=False)
            (out.loss / a.accum).backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, out.loss.item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--r", type=int, default=16)
    ap.add_argument("--bs", type=int, default=4)
    ap.add_argument("--len", type=int, default=1024)
    ap.add_argument("--accum", type=int, default=2)
    ap.add_argument("--steps", type=int, default=3)
    main(ap.parse_args())
