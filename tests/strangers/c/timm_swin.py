#!/usr/bin/env python3
import logging
from collections import OrderedDict
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.models import create_model
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV3, NativeScaler, dispatch_clip_grad

_logger = logging.getLogger('train')
logging.basicConfig(level=logging.INFO)


def synthetic(n, bs, sz):
    for _ in range(n):
        yield torch.randn(bs, 3, sz, sz), torch.randint(0, 1000, (bs,))


def train_one_epoch(epoch, model, loader, optimizer, loss_fn, device, lr_scheduler, loss_scaler, model_ema, mixup_fn,
                    accum_steps=2):
    losses_m = AverageMeter()
    model.train()
    num_updates = 0
    optimizer.zero_grad()
    for batch_idx, (input, target) in enumerate(loader):
        need_update = (batch_idx + 1) % accum_steps == 0
        input, target = input.to(device), target.to(device)
        input, target = mixup_fn(input, target)
        with torch.amp.autocast('cuda', dtype=torch.float16):
            output = model(input)
            loss = loss_fn(output, target)
        loss = loss / accum_steps
        loss_scaler(loss, optimizer, clip_grad=5.0, clip_mode='norm', parameters=model.parameters(),
                    need_update=need_update)
        losses_m.update(loss.item() * accum_steps, input.size(0))
        if not need_update:
            continue
        num_updates += 1
        optimizer.zero_grad()
        model_ema.update(model, step=num_updates)
        torch.cuda.synchronize()
        lr_scheduler.step_update(num_updates=num_updates, metric=losses_m.avg)
        _logger.info('Train: %d [%d] Loss: %.3f', epoch, batch_idx, losses_m.avg)
    return OrderedDict([('loss', losses_m.avg)])


def main():
    device = torch.device('cuda')
    model = create_model('swin_base_patch4_window7_224', drop_path_rate=0.3).to(device)
    optimizer = create_optimizer_v2(model, opt='adamw', lr=1e-3, weight_decay=0.05)
    mixup_fn = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, prob=1.0, switch_prob=0.5, label_smoothing=0.1, num_classes=1000)
    model_ema = ModelEmaV3(model, decay=0.9998)
    sched = CosineLRScheduler(optimizer, t_initial=300, warmup_t=20, t_in_epochs=True)
    train_one_epoch(0, model, synthetic(6, 56, 224), optimizer, SoftTargetCrossEntropy(), device, sched, NativeScaler(),
                    model_ema, mixup_fn)


if __name__ == '__main__':
    main()
