import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

class TextDataset(Dataset):
    def __init__(self, n=32, block=512):
        self.examples = torch.randint(0, 50257, (n, block)).tolist()
    def __len__(self): return len(self.examples)
    def __getitem__(self, item): return torch.tensor(self.examples[item])

config = GPT2Config(n_embd=1024, n_layer=24, n_head=16)   # gpt2-medium
model = GPT2LMHeadModel(config)
model.to("cuda")

no_decay = ["bias", "ln_"]
groups = [
    {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=5e-5, eps=1e-8)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=1, num_training_steps=4)
scaler = torch.cuda.amp.GradScaler()
train_dataloader = DataLoader(TextDataset(), batch_size=8, shuffle=True)

tr_loss, global_step = 0.0, 0
model.zero_grad()
for epoch in range(1):
    for step, batch in enumerate(train_dataloader):
        inputs, labels = batch, batch
        inputs = inputs.to("cuda")
        labels = labels.to("cuda")
        model.train()
        with torch.cuda.amp.autocast():
            outputs = model(inputs, labels=labels)
            loss = outputs[0]
        scaler.scale(loss).backward()
        tr_loss += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        model.zero_grad()
        global_step += 1
print("avg loss", tr_loss / global_step)
