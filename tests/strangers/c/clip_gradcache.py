"""CLIP with a large effective batch by caching representation gradients (two passes)."""
import math
import timm
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import get_device_states, set_device_states


class TextTower(nn.Module):
    def __init__(self, vocab=49408, ctx=77, width=512, layers=12, heads=8, out=512):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(0.01 * torch.randn(ctx, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0., activation=F.gelu, batch_first=True,
                                           norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(width)
        self.proj = nn.Parameter(width ** -0.5 * torch.randn(width, out))
        self.register_buffer("causal", torch.full((ctx, ctx), float("-inf")).triu_(1), persistent=False)

    def forward(self, t):
        h = self.blocks(self.tok(t) + self.pos, mask=self.causal)
        return self.ln(h)[:, -1] @ self.proj


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = timm.create_model("vit_base_patch16_224", num_classes=512, drop_path_rate=0.1)
        self.text = TextTower()
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))


class RandContext:
    def __init__(self, *tensors):
        self.fwd_cpu_state = torch.get_rng_state()
        self.fwd_gpu_devices, self.fwd_gpu_states = get_device_states(*tensors)

    def __enter__(self):
        self._fork = torch.random.fork_rng(devices=self.fwd_gpu_devices, enabled=True)
        self._fork.__enter__()
        torch.set_rng_state(self.fwd_cpu_state)
        set_device_states(self.fwd_gpu_devices, self.fwd_gpu_states)

    def __exit__(self, *a):
        self._fork.__exit__(*a)


def clip_loss(im, tx, scale):
    im, tx = F.normalize(im, dim=-1), F.normalize(tx, dim=-1)
    logits = scale.exp() * im @ tx.t()
    lab = torch.arange(len(im), device=im.device)
    return (F.cross_entropy(logits, lab) + F.cross_entropy(logits.t(), lab)) / 2


class GradCache:
    def __init__(self, model, chunk):
        self.model, self.chunk = model, chunk

    def embed(self, tower, xs):
        reps, states = [], []
        with torch.no_grad():
            for x in xs:
                states.append(RandContext(x))
                with torch.autocast("cuda", torch.bfloat16):
                    reps.append(tower(x).float())
        return torch.cat(reps), states

    def replay(self, tower, xs, states, grads):
        for x, s, g in zip(xs, states, grads.split(self.chunk)):
            with s, torch.autocast("cuda", torch.bfloat16):
                r = tower(x).float()
            torch.dot(r.flatten(), g.flatten()).backward()

    def step(self, images, texts):
        ims, txs = images.split(self.chunk), texts.split(self.chunk)
        ri, si = self.embed(self.model.visual, ims)
        rt, st = self.embed(self.model.text, txs)
        ri, rt = ri.detach().requires_grad_(), rt.detach().requires_grad_()
        loss = clip_loss(ri, rt, self.model.logit_scale)
        loss.backward()
        self.replay(self.model.visual, ims, si, ri.grad)
        self.replay(self.model.text, txs, st, rt.grad)
        return loss.detach()


def main(global_batch=768, chunk=96, steps=2):
    model = CLIP().cuda().train()
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.2)
    gc = GradCache(model, chunk)
    for i in range(steps):
        images = torch.randn(global_batch, 3, 224, 224).cuda()
        texts = torch.randint(0, 49408, (global_batch, 77)).cuda()
        opt.zero_grad(set_to_none=True)
        l = gc.step(images, texts)
        opt.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, math.log(100))
        print(i, float(l))


if __name__ == "__main__":
    main()
