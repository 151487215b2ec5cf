import torch, timm
import torch.nn.functional as F

torch.backends.cudnn.benchmark = False
bs, img = 512, 224
model = timm.create_model('mobilenetv3_large_100', num_classes=101, drop_rate=0.2)
model = model.cuda().to(memory_format=torch.channels_last)
print(sum(p.numel() for p in model.parameters())/1e6, 'M params')

decay, no_decay = [], []
for n, p in model.named_parameters():
    (no_decay if p.ndim <= 1 or n.endswith('.bias') else decay).append(p)
opt = torch.optim.RMSprop([
    {'params': no_decay, 'weight_decay': 0.},
    {'params': decay, 'weight_decay': 1e-5}], lr=0.01, alpha=0.9, momentum=0.9)
scaler = torch.amp.GradScaler('cuda')

x_cpu = torch.rand(bs, 3, img, img)
for it in range(4):
    x = x_cpu.cuda(non_blocking=True).to(memory_format=torch.channels_last)
    y = torch.randint(101, (bs,)).cuda()
    # normalise on the GPU
    mean = torch.tensor([0.485, 0.456, 0.406]).cuda().view(1, 3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).cuda().view(1, 3, 1, 1)
    x = (x - mean) / std
    with torch.autocast('cuda', dtype=torch.float16):
        out = model(x)
        loss = F.cross_entropy(out, y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    scaler.step(opt)
    scaler.update()
    print(it, loss.item(), scaler.get_scale())
print('peak', torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
