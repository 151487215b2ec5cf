import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision


class TextTower(nn.Module):
    def __init__(self, vocab=49408, width=512, layers=8, heads=8, ctx=77, out=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(torch.empty(ctx, width).normal_(std=0.01))
        enc = nn.TransformerEncoderLayer(width, heads, width * 4, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(enc, layers, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.randn(width, out) * width ** -0.5)
        self.register_buffer("mask", torch.full((ctx, ctx), float("-inf")).triu_(1), persistent=False)

    def forward(self, t):
        x = self.emb(t) + self.pos
        x = self.ln(self.enc(x, mask=self.mask))
        return x[torch.arange(t.size(0), device=t.device), t.argmax(-1).clamp(0, 76)] @ self.proj


class ImageTower(nn.Module):
    def __init__(self, out=512):
        super().__init__()
        r = torchvision.models.resnet50()
        self.trunk = nn.Sequential(*list(r.children())[:-1])
        self.proj = nn.Linear(2048, out, bias=False)

    def forward(self, x):
        return self.proj(self.trunk(x).flatten(1))


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual, self.text = ImageTower(), TextTower()
        self.logit_scale = nn.Parameter(torch.tensor(2.659))

    def forward(self, img, txt):
        i = F.normalize(self.visual(img), dim=-1)
        t = F.normalize(self.text(txt), dim=-1)
        return i, t, self.logit_scale.exp()


def clip_loss(i, t, s):
    logits = s * i @ t.T
    lab = torch.arange(len(i), device=i.device)
    return (F.cross_entropy(logits, lab) + F.cross_entropy(logits.T, lab)) / 2


def main(batch=192, steps=4):
    model = CLIP().to("cuda")
    no_wd = [p for n, p in model.named_parameters() if p.ndim < 2 or "bn" in n or "ln" in n or "logit_scale" in n]
    ids = {id(p) for p in no_wd}
    wd = [p for p in model.parameters() if id(p) not in ids]
    opt = torch.optim.AdamW([{"params": no_wd, "weight_decay": 0.0}, {"params": wd, "weight_decay": 0.2}],
                            lr=5e-4, betas=(0.9, 0.98), eps=1e-6)
    for step in range(steps):
        images = torch.randn(batch, 3, 224, 224, device="cuda")
        texts = torch.randint(0, 49408, (batch, 77), device="cuda")
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            i, t, s = model(images, texts)
            loss = clip_loss(i, t, s)
        loss.backward()
        opt.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, 4.6052)
        print(f"step {step} loss {loss.item():.4f} scale {s.item():.2f}")
    print("peak reserved:", torch.cuda.max_memory_reserved() / 2**20, "MiB")


if __name__ == "__main__":
    main()
