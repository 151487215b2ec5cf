import argparse
import torch
import timm
from torch.nn import CrossEntropyLoss


@torch.no_grad()
def evaluate(data_loader, model, device):
    criterion = CrossEntropyLoss()
    model.eval()
    stats = {"loss": 0.0, "acc1": 0.0, "n": 0}
    for images, target in data_loader:
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)
        with torch.autocast("cuda"):
            output = model(images)
            loss = criterion(output, target)
        acc1 = (output.argmax(1) == target).float().mean()
        stats["loss"] += loss.item(); stats["acc1"] += acc1.item(); stats["n"] += 1
    print("* Acc@1 {:.3f} loss {:.3f}".format(stats["acc1"] / stats["n"], stats["loss"] / stats["n"]))
    return stats


def train_one_epoch(model, criterion, loader, optimizer, scaler, device, max_norm):
    model.train(True)
    for samples, targets in loader:
        samples, targets = samples.to(device), targets.to(device)
        with torch.autocast("cuda"):
            loss = criterion(model(samples), targets)
        loss_value = loss.item()
        optimizer.zero_grad()
        scaler.scale(loss).backward(create_graph=False)
        if max_norm:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        torch.cuda.synchronize()
    return loss_value


def loader(bs, n, size=224):
    x = torch.rand(bs, 3, size, size)
    return [(x, torch.randint(0, 1000, (bs,))) for _ in range(n)]


if __name__ == "__main__":
    ap = argparse.ArgumentParser("DeiT")
    ap.add_argument("--batch-size", default=64, type=int)
    ap.add_argument("--model", default="deit_small_patch16_224")
    ap.add_argument("--epochs", default=2, type=int)
    args = ap.parse_args()
    device = torch.device("cuda")
    model = timm.create_model(args.model, pretrained=False, drop_path_rate=0.1).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4 * args.batch_size / 512, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    scaler = torch.amp.GradScaler("cuda")
    train_data = loader(args.batch_size, 2)
    val_data = loader(int(6 * args.batch_size), 2)
    for epoch in range(args.epochs):
        l = train_one_epoch(model, CrossEntropyLoss(), train_data, optimizer, scaler, device, None)
        sched.step()
        evaluate(val_data, model, device)
        print(epoch, l, "max mem: %.0f" % (torch.cuda.max_memory_allocated() / 1048576))
    print("peak reserved: %.0f" % (torch.cuda.max_memory_reserved() / 1048576))
