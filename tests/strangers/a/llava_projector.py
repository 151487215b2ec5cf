import torch
import torch.nn as nn
from transformers import CLIPVisionConfig, CLIPVisionModel, MistralConfig, MistralForCausalLM


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision_tower = CLIPVisionModel(CLIPVisionConfig(
            hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, image_size=336, patch_size=14))
        self.llm = MistralForCausalLM(MistralConfig(
            vocab_size=32064, hidden_size=2560, intermediate_size=6912, num_hidden_layers=16, num_attention_heads=20,
            num_key_value_heads=4, sliding_window=None))
        self.mm_projector = nn.Sequential(nn.Linear(1024, 2560), nn.GELU(), nn.Linear(2560, 2560))
        self.vision_tower.requires_grad_(False).eval()
        self.llm.requires_grad_(False)

    @torch.no_grad()
    def encode_images(self, pixels):
        out = self.vision_tower(pixels, output_hidden_states=True)
        return out.hidden_states[-2][:, 1:]

    def forward(self, pixels, ids, labels):
        feats = self.mm_projector(self.encode_images(pixels))
        text = self.llm.get_input_embeddings()(ids)
        x = torch.cat([text[:, :1], feats, text[:, 1:]], dim=1)
        ignore = labels.new_full(feats.shape[:2], -100)
        y = torch.cat([labels[:, :1], ignore, labels[:, 1:]], dim=1)
        return self.llm(inputs_embeds=x, labels=y, use_cache=False).loss


prev = torch.get_default_dtype()
torch.set_default_dtype(torch.bfloat16)
torch.set_default_device("cuda")
model = Captioner()
torch.set_default_device(None)
torch.set_default_dtype(prev)
model.mm_projector.float()

optimizer = torch.optim.AdamW(model.mm_projector.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
for step in range(3):
    pixels = torch.randn(6, 3, 336, 336).to("cuda", torch.bfloat16)
    ids = torch.randint(0, 32000, (6, 96)).to("cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(pixels, ids, ids.clone())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print("step", step, "loss", loss.item())
print("peak", torch.cuda.max_memory_reserved() / 1e9)
