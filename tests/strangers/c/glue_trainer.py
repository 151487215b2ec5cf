import numpy as np
import torch
from transformers import RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments


class NLI(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        self.g = np.random.default_rng(seed)
        self.rows = [self.g.integers(5, 50000, size=int(self.g.integers(40, 256))) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": int(i % 3)}


def collate(features):
    L = max(len(f["input_ids"]) for f in features)
    L = (L + 7) // 8 * 8
    ids = torch.ones(len(features), L, dtype=torch.long)
    att = torch.zeros(len(features), L, dtype=torch.long)
    for i, f in enumerate(features):
        ids[i, :len(f["input_ids"])] = torch.as_tensor(f["input_ids"])
        att[i, :len(f["input_ids"])] = 1
    return {"input_ids": ids, "attention_mask": att, "labels": torch.tensor([f["labels"] for f in features])}


def main():
    cfg = RobertaConfig(vocab_size=50265, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                        intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1, num_labels=3)
    model = RobertaForSequenceClassification(cfg)
    args = TrainingArguments("glue", max_steps=4, eval_strategy="steps", eval_steps=2,
                             per_device_train_batch_size=32, per_device_eval_batch_size=64, fp16=True,
                             learning_rate=2e-5, save_strategy="no", report_to=[], logging_steps=2, prediction_loss_only=True,
                             optim="adamw_torch_fused", train_sampling_strategy="random")
    Trainer(model, args, train_dataset=NLI(256, 1), eval_dataset=NLI(160, 2),
            data_collator=collate).train()


if __name__ == "__main__":
    main()
