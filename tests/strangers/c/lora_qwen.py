import math, sys
import torch, torch.nn as nn
from transformers import Qwen2Config, AutoModelForCausalLM
from transformers import get_cosine_schedule_with_warmup

RANK, ALPHA = 32, 64
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LoRALinear(nn.Module):
    """y = Wx + (alpha/r) B A dropout(x);  W stays frozen in bf16, A and B are kept in fp32"""

    def __init__(self, base: nn.Linear, r=RANK, alpha=ALPHA, p=0.05):
        super().__init__()
        self.base = base
        self.scaling = alpha / r
        dev = base.weight.device
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, device=dev, dtype=torch.float32))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, device=dev, dtype=torch.float32))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        out = self.base(x)
        h = self.dropout(x.to(self.lora_A.dtype))
        return out + ((h @ self.lora_A.t()) @ self.lora_B.t()).mul(self.scaling).to(out.dtype)


def inject(model):
    for p in model.parameters():
        p.requires_grad_(False)
    n = 0
    for mod in list(model.modules()):
        for name, child in list(mod.named_children()):
            if name in TARGETS and isinstance(child, nn.Linear):
                setattr(mod, name, LoRALinear(child))
                n += 1
    print("wrapped", n, "linears")
    return model


def batches(bs, maxlen, vocab, n):
    g = torch.Generator().manual_seed(11)
    for _ in range(n):
        L = int(torch.randint(maxlen // 2, maxlen + 1, (1,), generator=g))
        ids = torch.randint(0, vocab, (bs, L), generator=g)
        yield ids, torch.ones_like(ids)


def main():
    cfg = Qwen2Config(vocab_size=151936, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28,
                      num_attention_heads=12, num_key_value_heads=2, tie_word_embeddings=True, use_cache=False)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda:0"):
        model = AutoModelForCausalLM.from_config(cfg)
    torch.set_default_dtype(torch.float32)
    model = inject(model)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.enable_input_require_grads()
    trainable = [p for p in model.parameters() if p.requires_grad]
    print("trainable params: %.1fM" % (sum(p.numel() for p in trainable) / 1e6))
    opt = torch.optim.AdamW(trainable, lr=2e-4, weight_decay=0.0)
    sched = get_cosine_schedule_with_warmup(opt, 10, 1000)
    accum = 2
    model.train()
    for i, (ids, mask) in enumerate(batches(4, 1024, cfg.vocab_size, 6)):
        ids, mask = ids.cuda(), mask.cuda()
        loss = model(input_ids=ids, attention_mask=mask, labels=ids).loss / accum
        loss.backward()
        if (i + 1) % accum == 0:
            nn.utils.clip_grad_norm_(trainable, 0.3)
            opt.step()
            sched.step()
            opt.zero_grad()
            print(i, loss.item() * accum, file=sys.stderr)


main()
