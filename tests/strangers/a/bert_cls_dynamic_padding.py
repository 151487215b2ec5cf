import random
import torch
from accelerate import Accelerator
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification, get_linear_schedule_with_warmup

MAX_LEN = 256
random.seed(3)
torch.manual_seed(3)


def make_example():
    n = min(MAX_LEN, max(12, int(random.lognormvariate(4.3, 0.6))))
    return {"input_ids": [101] + [random.randrange(1000, 30000) for _ in range(n - 2)] + [102],
            "label": random.randrange(3)}


def collate_fn(examples):
    longest = max(len(e["input_ids"]) for e in examples)
    longest = (longest + 7) // 8 * 8      # pad_to_multiple_of=8
    ids = torch.zeros(len(examples), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, e in enumerate(examples):
        n = len(e["input_ids"])
        ids[i, :n] = torch.tensor(e["input_ids"])
        mask[i, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([e["label"] for e in examples])}


def main():
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=1)
    train = [make_example() for _ in range(32 * 5)]
    dl = DataLoader(train, shuffle=True, batch_size=32, collate_fn=collate_fn)
    model = BertForSequenceClassification(BertConfig(num_labels=3))
    no_decay = ["bias", "LayerNorm.weight"]
    params = [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = AdamW(params, lr=3e-5)
    scheduler = get_linear_schedule_with_warmup(optimizer, 1, 5)
    model, optimizer, dl, scheduler = accelerator.prepare(model, optimizer, dl, scheduler)
    model.train()
    for step, batch in enumerate(dl):
        with accelerator.accumulate(model):
            out = model(**batch)
            accelerator.backward(out.loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        print(step, tuple(batch["input_ids"].shape), out.loss.item())
    print("Peak reserved:", torch.cuda.max_memory_reserved() / 1e9, "GB")


main()
