import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments


class MaskedLines(Dataset):
    def __init__(self, n_lines, max_len, vocab_size):
        g = torch.Generator().manual_seed(0)
        self.ids = torch.randint(1000, vocab_size, (n_lines, max_len), generator=g)
        self.labels = torch.where(torch.rand(n_lines, max_len, generator=g) < 0.15, self.ids, -100)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.labels[i],
                "attention_mask": torch.ones_like(self.ids[i]),
                "token_type_ids": torch.zeros_like(self.ids[i])}


config = BertConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12)
model = BertForMaskedLM(config)
args = TrainingArguments(
    output_dir="/tmp/out_bert",
    per_device_train_batch_size=48,
    max_steps=4,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup_steps=2,
    bf16=True,
    logging_steps=2,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
    dataloader_num_workers=0,
)
trainer = Trainer(model=model, args=args, train_dataset=MaskedLines(256, 384, config.vocab_size))
result = trainer.train()
print(result.metrics)
