# %% [markdown]
# # Chest x-ray multi-label with DenseNet-121
# %%
import torch
import torch.nn as nn
import torchvision

device = "cuda" if torch.cuda.is_available() else "cpu"
N_FINDINGS = 14
# %%
model = torchvision.models.densenet121(weights=None)
model.features.conv0 = nn.Conv2d(1, 64, kernel_size=7, stride=2, padding=3, bias=False)  # grayscale
model.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(model.classifier.in_features, N_FINDINGS))
model = model.to(device)
# %%
pos_weight = torch.rand(N_FINDINGS, device=device) * 10
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.999))
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
# %%
losses = []
all_probs, all_targets = [], []
for step in range(4):
    xb = torch.randn(40, 1, 320, 320, device=device)
    yb = torch.randint(0, 2, (40, N_FINDINGS), device=device).float()
    preds = model(xb)
    loss = loss_fn(preds, yb)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
    all_probs.append(torch.sigmoid(preds).detach().cpu())
    all_targets.append(yb.cpu())
    print(step, losses[-1])
scheduler.step(sum(losses) / len(losses))
# %%
probs = torch.cat(all_probs)
print(probs.shape, "max mem", torch.cuda.max_memory_allocated() / 1024**3, torch.cuda.max_memory_reserved() / 1024**3)
