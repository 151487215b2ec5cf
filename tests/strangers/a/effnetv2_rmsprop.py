import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset
from torchvision.models import efficientnet_v2_s


class RandomImages(Dataset):
    def __init__(self, n, size):
        self.n, self.size = n, size
        self.img = torch.rand(3, size, size)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.img, i % 200


class Trainer:
    def __init__(self, model, train_loader, lr=2.5e-3, device="cuda"):
        self.device = device
        self.model = model.to(device)
        self.loader = train_loader
        self.opt = optim.RMSprop(self.model.parameters(), lr=lr, alpha=0.9, eps=1e-3, momentum=0.9, weight_decay=1e-5)
        self.sched = optim.lr_scheduler.ExponentialLR(self.opt, gamma=0.97)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.history = []

    def _step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        self.opt.zero_grad(set_to_none=True)
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            logits = self.model(x)
            loss = self.criterion(logits, y)
        loss.backward()
        self.opt.step()
        correct = (logits.argmax(1) == y).sum()
        return loss.detach(), correct

    def fit(self, epochs):
        for ep in range(epochs):
            self.model.train()
            total, n_correct = 0.0, 0
            for batch in self.loader:
                loss, correct = self._step(batch)
                total += loss
                n_correct += correct
            self.sched.step()
            self.history.append((total / len(self.loader)).item())
            print(f"epoch {ep}: loss={self.history[-1]:.4f} correct={int(n_correct)}")


if __name__ == "__main__":
    ds = RandomImages(64 * 2 + 24, 300)          # last batch is smaller
    dl = DataLoader(ds, batch_size=64, shuffle=True, num_workers=0)
    net = efficientnet_v2_s(num_classes=200)
    Trainer(net, dl).fit(epochs=2)
    print("peak reserved", torch.cuda.max_memory_reserved() // 2**20, "MiB")
