import torch, torchvision
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

NUM_CLASSES = 21
LR = 0.01
BATCH = 8

class VOC(Dataset):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i): return torch.randn(3, 480, 480), torch.randint(0, NUM_CLASSES, (480, 480))

def criterion(inputs, target):
    losses = {}
    for name, x in inputs.items():
        losses[name] = nn.functional.cross_entropy(x, target, ignore_index=255)
    if len(losses) == 1:
        return losses['out']
    return losses['out'] + 0.5 * losses['aux']

def validate(model, loader):
    model.eval()
    val_loss = 0
    for image, target in loader:
        image, target = image.cuda(), target.cuda()
        output = model(image)
        val_loss += criterion(output, target)
    print('val loss', val_loss / len(loader))
    return val_loss / len(loader)

train_loader = DataLoader(VOC(16), batch_size=BATCH, shuffle=True)
val_loader = DataLoader(VOC(12), batch_size=4)

model = torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=NUM_CLASSES, aux_loss=True)
model = model.cuda()
params = [{'params': model.backbone.parameters()}, {'params': model.classifier.parameters()},
          {'params': model.aux_classifier.parameters(), 'lr': LR * 10}]
optimizer = torch.optim.SGD(params, lr=LR, momentum=0.9, weight_decay=1e-4)
best = None
for epoch in range(2):
    model.train()
    for image, target in train_loader:
        image, target = image.cuda(), target.cuda()
        output = model(image)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    val = validate(model, val_loader)
    if epoch == 0:
        best = val
