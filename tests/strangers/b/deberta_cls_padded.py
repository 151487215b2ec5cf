"""DeBERTa-v3-base style sentence-pair classification, dynamic padding (a different length in every batch)."""
import random
import torch
from torch.optim import AdamW
from torch.nn.utils.rnn import pad_sequence
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

random.seed(3)
SEED_LENGTHS = [random.randint(60, 256) for _ in range(96)]


def collate(lengths):
    ids = [torch.randint(5, 128000, (n,)) for n in lengths]
    return {
        "input_ids": pad_sequence(ids, batch_first=True, padding_value=0),
        "attention_mask": pad_sequence([torch.ones(n, dtype=torch.long) for n in lengths], batch_first=True),
        "labels": torch.randint(0, 3, (len(lengths),)),
    }


def batches(bs):
    for i in range(0, len(SEED_LENGTHS), bs):
        yield collate(SEED_LENGTHS[i:i + bs])


cfg = DebertaV2Config(vocab_size=128100, hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                      intermediate_size=3072, relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm",
                      share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0,
                      num_labels=3)
model = DebertaV2ForSequenceClassification(cfg).to("cuda")
optim = AdamW(model.parameters(), lr=2e-5)
class_weights = torch.tensor([1.0, 2.0, 1.5], device="cuda")
model.train()
for i, batch in enumerate(batches(24)):
    batch = {k: v.to("cuda") for k, v in batch.items()}
    labels = batch.pop("labels")
    logits = model(**batch).logits
    loss = torch.nn.functional.cross_entropy(logits, labels, weight=class_weights)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optim.step()
    optim.zero_grad()
    print(i, tuple(batch["input_ids"].shape), loss.item())
