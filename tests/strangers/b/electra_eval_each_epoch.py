# binary sentiment, 2 epochs of 3 steps, evaluation after each epoch with larger batches and gathered predictions
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import ElectraConfig, ElectraForSequenceClassification

torch.manual_seed(0)
MAXLEN = 320
train_ds = TensorDataset(torch.randint(0, 30000, (96, MAXLEN)), torch.randint(0, 2, (96,)))
valid_ds = TensorDataset(torch.randint(0, 30000, (250, MAXLEN)), torch.randint(0, 2, (250,)))
train_loader = DataLoader(train_ds, batch_size=32, shuffle=True)
valid_loader = DataLoader(valid_ds, batch_size=96)          # last batch is smaller

model = ElectraForSequenceClassification(ElectraConfig(
    embedding_size=768, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072, num_labels=2))
model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)

best = 0
for epoch in range(2):
    model.train()
    epoch_loss = 0.0
    for input_ids, labels in train_loader:
        input_ids, labels = input_ids.cuda(), labels.cuda()
        optimizer.zero_grad()
        outputs = model(input_ids=input_ids, labels=labels)
        loss = outputs.loss
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()

    model.eval()
    preds, golds, val_losses = [], [], []
    with torch.no_grad():
        for input_ids, labels in valid_loader:
            input_ids, labels = input_ids.cuda(), labels.cuda()
            outputs = model(input_ids=input_ids, labels=labels)
            val_losses.append(outputs.loss)
            preds.append(outputs.logits.softmax(-1))
            golds.append(labels)
    preds, golds = torch.cat(preds), torch.cat(golds)
    acc = (preds.argmax(-1) == golds).float().mean().item()
    print(f"epoch {epoch} train {epoch_loss / len(train_loader):.3f} val {torch.stack(val_losses).mean().item():.3f} acc {acc:.3f}")
