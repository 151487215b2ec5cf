import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as tvm
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

T, ALPHA = 4.0, 0.7
device = torch.device("cuda")

teacher = tvm.wide_resnet50_2(num_classes=100).to(device).eval()
for p in teacher.parameters():
    p.requires_grad_(False)
student = tvm.mobilenet_v2(num_classes=100).to(device)
ema = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.999))

# intermediate features are matched as well
feats = {}
teacher.layer3.register_forward_hook(lambda m, i, o: feats.__setitem__("t", o))
student.features[13].register_forward_hook(lambda m, i, o: feats.__setitem__("s", o))
adapter = nn.Conv2d(96, 1024, 1).to(device)

opt = torch.optim.SGD(list(student.parameters()) + list(adapter.parameters()), lr=0.05, momentum=0.9, weight_decay=4e-5)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[2, 3], gamma=0.1)


def kd_loss(s, t, y):
    soft = F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T
    return ALPHA * soft + (1 - ALPHA) * F.cross_entropy(s, y)


for step in range(4):
    x = torch.randn(176, 3, 224, 224, device=device)
    y = torch.randint(0, 100, (176,), device=device)
    with torch.no_grad():
        t_logits = teacher(x)
    s_logits = student(x)
    loss = kd_loss(s_logits, t_logits, y) + 0.1 * F.mse_loss(adapter(feats["s"]), feats["t"])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    ema.update_parameters(student)
    print(f"step {step}: {loss.item():.4f}")

ema.eval()
with torch.no_grad():
    print((ema(x).argmax(1) == y).float().mean().item())
print("peak", torch.cuda.max_memory_reserved() / 2**30, "GiB")
