# One-stage anchor-free detector (FCOS-like): timm resnet features -> FPN -> shared heads, dense targets
import timm, torch, torch.nn as nn, torch.nn.functional as F
from torchvision.ops import sigmoid_focal_loss, FeaturePyramidNetwork

NUM_CLASSES, B, SIZE = 80, 8, (640, 800)
STRIDES = [8, 16, 32, 64]


class Head(nn.Module):
    def __init__(self, c=256, n=4):
        super().__init__()
        def tower():
            return nn.Sequential(*[m for _ in range(n) for m in (nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(32, c), nn.ReLU())])
        self.cls_tower, self.box_tower = tower(), tower()
        self.cls = nn.Conv2d(c, NUM_CLASSES, 3, padding=1)
        self.box = nn.Conv2d(c, 4, 3, padding=1)
        self.ctr = nn.Conv2d(c, 1, 3, padding=1)
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(())) for _ in STRIDES])

    def forward(self, feats):
        cls, box, ctr = [], [], []
        for s, f in zip(self.scales, feats):
            a, b = self.cls_tower(f), self.box_tower(f)
            cls.append(self.cls(a).flatten(2).transpose(1, 2))
            box.append(F.softplus(self.box(b) * s).flatten(2).transpose(1, 2))
            ctr.append(self.ctr(b).flatten(2).transpose(1, 2))
        return torch.cat(cls, 1), torch.cat(box, 1), torch.cat(ctr, 1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model("resnet34", features_only=True, out_indices=(2, 3, 4))
        self.fpn = FeaturePyramidNetwork(self.backbone.feature_info.channels(), 256)
        self.extra = nn.Conv2d(256, 256, 3, 2, 1)
        self.head = Head()

    def forward(self, x):
        feats = {str(i): f for i, f in enumerate(self.backbone(x))}
        feats = list(self.fpn(feats).values())
        feats.append(self.extra(feats[-1]))
        return self.head(feats)


def targets(n_loc):
    t_cls = torch.zeros(B, n_loc, NUM_CLASSES, device="cuda")
    t_box = torch.rand(B, n_loc, 4, device="cuda") * 100
    t_ctr = torch.rand(B, n_loc, 1, device="cuda")
    w = (torch.rand(B, n_loc, 1, device="cuda") > 0.98).float()
    return t_cls, t_box, t_ctr, w


def iou_loss(p, t):
    inter = (torch.minimum(p[..., 0], t[..., 0]) + torch.minimum(p[..., 2], t[..., 2])) * \
            (torch.minimum(p[..., 1], t[..., 1]) + torch.minimum(p[..., 3], t[..., 3]))
    area = lambda b: (b[..., 0] + b[..., 2]) * (b[..., 1] + b[..., 3])
    return -torch.log((inter + 1) / (area(p) + area(t) - inter + 1))


model = Detector().cuda()
# reduced lr on the backbone
opt = torch.optim.SGD([
    {"params": model.backbone.parameters(), "lr": 1e-3},
    {"params": [p for n, p in model.named_parameters() if not n.startswith("backbone")]},
], lr=1e-2, momentum=0.9, weight_decay=1e-4)

for it in range(3):
    imgs = torch.stack([torch.zeros(3, *SIZE) for _ in range(B)]).cuda()
    cls, box, ctr = model(imgs)
    t_cls, t_box, t_ctr, w = targets(cls.size(1))
    npos = w.sum().clamp(min=1)
    losses = {
        "cls": sigmoid_focal_loss(cls, t_cls, reduction="sum") / npos,
        "box": (iou_loss(box, t_box).unsqueeze(-1) * w).sum() / npos,
        "ctr": (F.binary_cross_entropy_with_logits(ctr, t_ctr, reduction="none") * w).sum() / npos,
    }
    total = sum(losses.values())
    opt.zero_grad()
    total.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    opt.step()
    print({k: round(v.item(), 3) for k, v in losses.items()})
