import time
import torch
from torchvision.models import convnext_base

torch.manual_seed(0)
model = convnext_base(weights=None).eval().to("cuda", dtype=torch.bfloat16, memory_format=torch.channels_last)
model.requires_grad_(False)

n_batches, bs = 6, 256
top1 = top5 = total = 0
confusion = torch.zeros(1000, 1000, device="cuda", dtype=torch.int32)
lat = []
with torch.inference_mode():
    for b in range(n_batches):
        size = bs if b < n_batches - 1 else 100
        img = torch.randint(0, 256, (size, 3, 256, 256), dtype=torch.uint8).to("cuda")
        lab = torch.randint(0, 1000, (size,)).to("cuda")
        t0 = time.perf_counter()
        x = torch.nn.functional.interpolate(img.float().div_(255), size=(224, 224), mode="bilinear", antialias=False)
        x = x.to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
        prob = model(x).float().softmax(-1)
        conf, pred = prob.topk(5, dim=-1)
        hit = pred.eq(lab[:, None])
        top1 += hit[:, 0].sum().item()
        top5 += hit.any(-1).sum().item()
        total += size
        confusion.view(-1).index_add_(0, lab * 1000 + pred[:, 0], torch.ones_like(lab, dtype=torch.int32))
        lat.append(time.perf_counter() - t0)
print("top1", top1 / total, "top5", top5 / total, "mean latency", sum(lat) / len(lat))
print("peak reserved", torch.cuda.max_memory_reserved() / 2**20, "MiB")
