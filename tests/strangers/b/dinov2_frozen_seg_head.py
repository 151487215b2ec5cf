# Frozen DINOv2 ViT-B (timm) + trained conv head for segmentation (ADE-like, 150 classes)
import timm
import torch
import torch.nn as nn
import torch.nn.functional as F

backbone = timm.create_model("vit_base_patch14_dinov2", pretrained=False, img_size=448, num_classes=0).cuda().eval()
for p in backbone.parameters():
    p.requires_grad = False

LAYERS = [2, 5, 8, 11]


class MultiScaleHead(nn.Module):
    def __init__(self, dim, n_in, hidden=256, classes=150):
        super().__init__()
        self.reduce = nn.ModuleList([nn.Conv2d(dim, hidden, 1) for _ in range(n_in)])
        self.fuse = nn.Sequential(
            nn.Conv2d(hidden * n_in, hidden, 3, padding=1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(),
            nn.ConvTranspose2d(hidden, hidden, 2, 2), nn.BatchNorm2d(hidden), nn.ReLU(),
            nn.Conv2d(hidden, hidden, 3, padding=1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(),
            nn.Dropout2d(0.1), nn.Conv2d(hidden, classes, 1))

    def forward(self, feats, size):
        x = torch.cat([r(f) for r, f in zip(self.reduce, feats)], 1)
        return F.interpolate(self.fuse(x), size=size, mode="bilinear", align_corners=False)


head = MultiScaleHead(768, len(LAYERS)).cuda()
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(4):
    img = torch.randn(12, 3, 448, 448, device="cuda")
    mask = torch.randint(0, 150, (12, 448, 448), device="cuda")
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        feats = backbone.get_intermediate_layers(img, n=LAYERS, reshape=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = head(feats, mask.shape[-2:])
    loss = F.cross_entropy(logits.float(), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    miou_proxy = (logits.argmax(1) == mask).float().mean()
    print(f"{step} loss={loss.item():.3f} pixacc={miou_proxy.item():.3f}")
