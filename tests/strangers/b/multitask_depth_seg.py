# Shared HRNet-ish encoder; two decoders: semantic segmentation and depth, uncertainty weighting,
# the two losses backpropagated one after the other through the shared part.
import timm
import torch
import torch.nn as nn
import torch.nn.functional as F


class Decoder(nn.Module):
    def __init__(self, chans, out, width=128):
        super().__init__()
        self.lat = nn.ModuleList([nn.Conv2d(c, width, 1) for c in chans])
        self.smooth = nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.SiLU()) for _ in chans])
        self.final = nn.Conv2d(width, out, 3, padding=1)

    def forward(self, feats, size):
        x = None
        for lat, sm, f in reversed(list(zip(self.lat, self.smooth, feats))):
            y = lat(f)
            if x is not None:
                y = y + F.interpolate(x, size=y.shape[-2:], mode="nearest")
            x = sm(y)
        return F.interpolate(self.final(x), size=size, mode="bilinear", align_corners=False)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = timm.create_model("mobilenetv3_large_100", features_only=True, pretrained=False)
        ch = self.enc.feature_info.channels()
        self.seg, self.depth = Decoder(ch, 40), Decoder(ch, 1)
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        feats = self.enc(x)
        return self.seg(feats, x.shape[-2:]), self.depth(feats, x.shape[-2:])


def silog(pred, target, lam=0.85):
    d = torch.log(F.softplus(pred) + 1e-3) - torch.log(target + 1e-3)
    return torch.sqrt((d ** 2).mean() - lam * d.mean() ** 2 + 1e-6)


model = MultiTask().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, amsgrad=True)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)
losses = {"seg": [], "depth": []}
for step in range(4):
    img = torch.rand(16, 3, 480, 640, device="cuda")
    seg_gt = torch.randint(0, 40, (16, 480, 640), device="cuda")
    depth_gt = torch.rand(16, 1, 480, 640, device="cuda") * 10
    seg, depth = model(img)
    l_seg = F.cross_entropy(seg, seg_gt)
    l_depth = silog(depth, depth_gt)
    w = torch.exp(-model.log_vars)
    optimizer.zero_grad()
    (w[0] * l_seg + model.log_vars[0]).backward(retain_graph=True)
    (w[1] * l_depth + model.log_vars[1]).backward()
    optimizer.step()
    scheduler.step()
    losses["seg"].append(l_seg.detach())
    losses["depth"].append(l_depth.detach())
print({k: torch.stack(v).mean().item() for k, v in losses.items()})
