import timm
import torch
from torch import nn

CFG = dict(arch="vit_base_patch16_224", n_unfrozen=4, bs=256, lr_head=1e-3, lr_body=1e-5, steps=4, classes=196)


def build(cfg):
    net = timm.create_model(cfg["arch"], num_classes=cfg["classes"])
    net.requires_grad_(False)
    body = []
    for blk in net.blocks[-cfg["n_unfrozen"]:]:
        blk.requires_grad_(True)
        body += list(blk.parameters())
    net.norm.requires_grad_(True)
    body += list(net.norm.parameters())
    net.head = nn.Sequential(nn.Linear(net.num_features, 512), nn.GELU(), nn.Dropout(0.3), nn.Linear(512, cfg["classes"]))
    return net, [{"params": body, "lr": cfg["lr_body"]}, {"params": net.head.parameters(), "lr": cfg["lr_head"]}]


def freeze_eval(net, n_unfrozen):
    # dropout etc. of the frozen part stays in eval mode
    net.train()
    net.patch_embed.eval()
    for blk in net.blocks[:-n_unfrozen]:
        blk.eval()


net, groups = build(CFG)
net.cuda()
opt = torch.optim.AdamW(groups, weight_decay=0.05)
scaler = torch.amp.GradScaler()
for s in range(CFG["steps"]):
    freeze_eval(net, CFG["n_unfrozen"])
    x = torch.randn(CFG["bs"], 3, 224, 224, device="cuda")
    y = torch.randint(0, CFG["classes"], (CFG["bs"],), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(net(x), y, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_((p for g in opt.param_groups for p in g["params"]), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad(set_to_none=True)
    print(f"[{s}] loss={loss.item():.3f}")
print("max_memory_reserved", torch.cuda.max_memory_reserved() / 2**20)
