# Translation with nn.Transformer as in the annotated tutorials: Noam schedule, label smoothing, masks.
import math
import torch
from torch import nn, Tensor

SRC_VOCAB, TGT_VOCAB, PAD = 37000, 37000, 1
DEVICE = torch.device("cuda")


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout, maxlen=5000):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pe = torch.zeros((maxlen, emb_size))
        pe[:, 0::2] = torch.sin(pos * den)
        pe[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", pe.unsqueeze(-2))

    def forward(self, x: Tensor):
        return self.dropout(x + self.pe[: x.size(0), :])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, n_enc=6, n_dec=6, emb=512, nhead=8, ff=2048, dropout=0.1):
        super().__init__()
        self.transformer = nn.Transformer(emb, nhead, n_enc, n_dec, ff, dropout)
        self.generator = nn.Linear(emb, TGT_VOCAB)
        self.src_emb, self.tgt_emb = nn.Embedding(SRC_VOCAB, emb), nn.Embedding(TGT_VOCAB, emb)
        self.pe, self.scale = PositionalEncoding(emb, dropout), math.sqrt(emb)

    def forward(self, src, trg, tgt_mask, src_pad, tgt_pad):
        s = self.pe(self.src_emb(src) * self.scale)
        t = self.pe(self.tgt_emb(trg) * self.scale)
        outs = self.transformer(s, t, None, tgt_mask, None, src_pad, tgt_pad, src_pad)
        return self.generator(outs)


def noam(step, d=512, warmup=4000):
    step = max(step, 1)
    return d ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)


model = Seq2SeqTransformer()
for p in model.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
model = model.to(DEVICE)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, noam)

# batches by length, as a bucket iterator would give them (longest first)
for src_len, tgt_len, bs in [(120, 128, 64), (90, 96, 80), (60, 66, 128), (40, 44, 160)]:
    src = torch.randint(2, SRC_VOCAB, (src_len, bs)).to(DEVICE)
    tgt = torch.randint(2, TGT_VOCAB, (tgt_len, bs)).to(DEVICE)
    tgt_input, tgt_out = tgt[:-1, :], tgt[1:, :]
    mask = torch.triu(torch.ones((tgt_len - 1, tgt_len - 1), device=DEVICE, dtype=torch.bool), 1)
    src_pad, tgt_pad = (src == PAD).transpose(0, 1), (tgt_input == PAD).transpose(0, 1)
    logits = model(src, tgt_input, mask, src_pad, tgt_pad)
    optimizer.zero_grad()
    loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(loss.item())
