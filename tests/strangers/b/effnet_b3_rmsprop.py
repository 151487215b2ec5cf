import argparse
import logging
import timm
import torch
from timm.utils import ModelEmaV2, AverageMeter
from timm.optim import RMSpropTF
from timm.scheduler import StepLRScheduler

logging.basicConfig(level=logging.INFO)
_logger = logging.getLogger("train")


def parse():
    p = argparse.ArgumentParser("efficientnet")
    p.add_argument("--model", default="efficientnet_b3")
    p.add_argument("--img", type=int, default=288)
    p.add_argument("--batch-size", type=int, default=56)
    p.add_argument("--drop", type=float, default=0.3)
    p.add_argument("--drop-path", type=float, default=0.2)
    p.add_argument("--iters", type=int, default=4)
    p.add_argument("--amp", action="store_true", default=True)
    return p.parse_args()


def train_one_epoch(epoch, model, batches, optimizer, loss_fn, args, ema, scaler):
    losses = AverageMeter()
    model.train()
    for idx, (x, y) in enumerate(batches):
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", enabled=args.amp):
            out = model(x)
            loss = loss_fn(out, y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        ema.update(model)
        torch.cuda.synchronize()
        losses.update(loss.item(), x.size(0))
        _logger.info("ep %d it %d loss %.4f", epoch, idx, losses.avg)
    return losses.avg


def loader(args):
    for _ in range(args.iters):
        yield torch.zeros(args.batch_size, 3, args.img, args.img), torch.randint(1000, (args.batch_size,))


def main():
    args = parse()
    model = timm.create_model(args.model, drop_rate=args.drop, drop_path_rate=args.drop_path)
    model = model.cuda().to(memory_format=torch.channels_last)
    ema = ModelEmaV2(model, decay=0.9998)
    optimizer = RMSpropTF(model.parameters(), lr=0.048, alpha=0.9, eps=1e-3, momentum=0.9, weight_decay=1e-5)
    sched = StepLRScheduler(optimizer, decay_t=2.4, decay_rate=0.97, warmup_t=3, warmup_lr_init=1e-6)
    scaler = torch.amp.GradScaler()
    train_one_epoch(0, model, loader(args), optimizer, torch.nn.CrossEntropyLoss().cuda(), args, ema, scaler)
    sched.step(1)


if __name__ == "__main__":
    main()
