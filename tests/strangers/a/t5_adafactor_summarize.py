import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

torch.manual_seed(1234)
cfg = T5Config(vocab_size=32128, d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_decoder_layers=12, num_heads=12,
               decoder_start_token_id=0, dropout_rate=0.1)
model = T5ForConditionalGeneration(cfg).to("cuda")
optimizer = Adafactor(model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False, warmup_init=False)


def collate(batch):
    src = pad_sequence([b[0] for b in batch], batch_first=True, padding_value=0)
    tgt = pad_sequence([b[1] for b in batch], batch_first=True, padding_value=-100)
    return {"input_ids": src, "attention_mask": (src != 0).long(), "labels": tgt}


def sample():
    a = int(torch.randint(200, 513, (1,)))
    b = int(torch.randint(40, 129, (1,)))
    return torch.randint(2, 32000, (a,)), torch.randint(2, 32000, (b,))


dataset = [sample() for _ in range(8 * 4)]
loader = torch.utils.data.DataLoader(dataset, batch_size=8, collate_fn=collate, shuffle=False)

model.train()
for i, batch in enumerate(loader):
    batch = {k: v.to(model.device) for k, v in batch.items()}
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    model.zero_grad()
    print(i, batch["input_ids"].shape[1], batch["labels"].shape[1], loss.item())
print("max reserved (MiB)", torch.cuda.max_memory_reserved() // (1 << 20))
