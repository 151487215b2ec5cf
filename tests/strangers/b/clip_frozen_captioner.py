"""Image captioning: frozen CLIP vision tower, trained projection and GPT-style decoder with cross attention."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import CLIPVisionConfig, CLIPVisionModel, GPT2Config, GPT2LMHeadModel


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        vcfg = CLIPVisionConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                                image_size=224, patch_size=14)
        self.vision = CLIPVisionModel(vcfg)
        self.vision.requires_grad_(False)
        self.project = nn.Sequential(nn.LayerNorm(1024), nn.Linear(1024, 768), nn.GELU(), nn.Linear(768, 768))
        self.decoder = GPT2LMHeadModel(GPT2Config(n_embd=768, n_layer=8, n_head=12, add_cross_attention=True, n_positions=128))

    def train(self, mode=True):
        super().train(mode)
        self.vision.eval()
        return self

    def forward(self, pixels, captions):
        with torch.no_grad():
            feats = self.vision(pixels).last_hidden_state
        memory = self.project(feats)
        logits = self.decoder(captions, encoder_hidden_states=memory, use_cache=False).logits
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), captions[:, 1:].flatten())


class Engine:
    def __init__(self, model, bs):
        self.model, self.bs = model.cuda(), bs
        params = [p for p in model.parameters() if p.requires_grad]
        self.opt = torch.optim.RAdam(params, lr=2e-4, decoupled_weight_decay=True, weight_decay=0.01)
        self.ema = AveragedModel(self.model.decoder, multi_avg_fn=get_ema_multi_avg_fn(0.999))

    def step(self):
        pixels = torch.randn(self.bs, 3, 224, 224, device="cuda", dtype=torch.float32)
        captions = torch.randint(0, 50257, (self.bs, 64), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.model(pixels, captions)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.ema.update_parameters(self.model.decoder)
        return loss.item()

    def run(self, n):
        self.model.train()
        for i in range(n):
            print(i, self.step())


Engine(Captioner(), bs=40).run(3)
