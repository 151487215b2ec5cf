"""LoRA instruction tuning, adapters written by hand (wrapping nn.Linear)."""
import argparse
import math
import torch
from torch import nn
from transformers import AutoConfig, LlamaConfig, LlamaForCausalLM


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: int, dropout: float):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, device=base.weight.device))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, device=base.weight.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        out = self.base(x)
        z = self.drop(x).to(self.lora_A.dtype)
        delta = z @ self.lora_A.t() @ self.lora_B.t()
        return out + (delta * self.scaling).to(out.dtype)


def inject(model, targets, **kw):
    for name, module in list(model.named_modules()):
        for child_name, child in list(module.named_children()):
            if child_name in targets and isinstance(child, nn.Linear):
                setattr(module, child_name, LoRALinear(child, **kw))


def trainable_summary(model):
    t = sum(p.numel() for p in model.parameters() if p.requires_grad)
    a = sum(p.numel() for p in model.parameters())
    print(f"trainable params: {t:,} || all params: {a:,} || trainable%: {100 * t / a:.4f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rank", type=int, default=16)
    ap.add_argument("--micro-batch", type=int, default=2)
    ap.add_argument("--accum", type=int, default=2)
    ap.add_argument("--seq-len", type=int, default=1024)
    args = ap.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        cfg = LlamaConfig(vocab_size=32000, hidden_size=3072, intermediate_size=8192, num_hidden_layers=20,
                          num_attention_heads=24, num_key_value_heads=8)
        model = LlamaForCausalLM(cfg)
    torch.set_default_dtype(torch.float32)

    for p in model.parameters():
        p.requires_grad = False
    inject(model, {"q_proj", "v_proj", "o_proj"}, r=args.rank, alpha=32, dropout=0.05)
    trainable_summary(model)
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=2e-4, weight_decay=0.0)

    model.train()
    for step in range(3):
        for _ in range(args.accum):
            ids = torch.randint(0, 32000, (args.micro_batch, args.seq_len)).cuda()
            out = model(input_ids=ids, labels=ids, use_cache=False)
            (out.loss / args.accum).backward()
            loss_val = out.loss.item()
        torch.nn.utils.clip_grad_norm_(params, 0.3)
        opt.step()
        opt.zero_grad()
        print("step", step, loss_val)
    print("peak:", torch.cuda.max_memory_reserved() / 2**30, "GiB")


main()
