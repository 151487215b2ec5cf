# LLaVA-ish stage 2: frozen vision tower, projector + language model trained in pure bf16 with Lion
import torch
import torch.nn as nn
from transformers import MistralConfig, MistralForCausalLM, SiglipVisionConfig, SiglipVisionModel

DT = torch.bfloat16
DEV = "cuda"


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                if len(st) == 0:
                    st["exp_avg"] = torch.zeros_like(p)
                m = st["exp_avg"]
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                update = m.clone().mul_(b1).add(p.grad, alpha=1 - b1).sign_()
                p.add_(update, alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


class VLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = SiglipVisionModel(SiglipVisionConfig(hidden_size=1152, intermediate_size=4304,
                                                           num_hidden_layers=27, num_attention_heads=16,
                                                           image_size=384, patch_size=14))
        self.lm = MistralForCausalLM(MistralConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=16,
                                                   num_attention_heads=16, num_key_value_heads=8, vocab_size=32064,
                                                   sliding_window=None, use_cache=False))
        self.projector = nn.Sequential(nn.Linear(1152, 2048), nn.GELU(), nn.Linear(2048, 2048))
        self.vision.requires_grad_(False)
        self.vision.eval()

    def forward(self, pixel_values, input_ids, labels):
        with torch.no_grad():
            feats = self.vision(pixel_values, output_hidden_states=True).hidden_states[-2]
        img = self.projector(feats)
        txt = self.lm.get_input_embeddings()(input_ids)
        embeds = torch.cat([img, txt], 1)
        ignore = torch.full(img.shape[:2], -100, device=labels.device, dtype=labels.dtype)
        return self.lm(inputs_embeds=embeds, labels=torch.cat([ignore, labels], 1)).loss


torch.set_default_dtype(DT)
with torch.device(DEV):
    net = VLM()
torch.set_default_dtype(torch.float32)
net.lm.gradient_checkpointing_enable()
net.lm.train()
opt = Lion([{"params": net.projector.parameters(), "lr": 3e-5}, {"params": net.lm.parameters()}], lr=6e-6, weight_decay=0.1)

for it in range(3):
    n_txt = [420, 512, 360][it]
    px = torch.randn(8, 3, 384, 384).to(DEV, DT)
    ids = torch.randint(0, 32000, (8, n_txt)).to(DEV)
    lab = ids.clone(); lab[:, :64] = -100
    loss = net(px, ids, lab)
    loss.backward()
    gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step(); opt.zero_grad()
    print(it, loss.item(), gn.item())
