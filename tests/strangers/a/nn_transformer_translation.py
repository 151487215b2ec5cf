import math
import torch
import torch.nn as nn
from torch import Tensor

DEVICE = torch.device('cuda')
PAD_IDX, BOS_IDX = 1, 2


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 5000):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pe = torch.zeros((maxlen, emb_size))
        pe[:, 0::2] = torch.sin(pos * den)
        pe[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer('pos_embedding', pe.unsqueeze(-2))

    def forward(self, tok: Tensor):
        return self.dropout(tok + self.pos_embedding[:tok.size(0), :])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, n_enc, n_dec, emb, nhead, src_vocab, tgt_vocab, ff=512, dropout=0.1):
        super().__init__()
        self.transformer = nn.Transformer(d_model=emb, nhead=nhead, num_encoder_layers=n_enc, num_decoder_layers=n_dec,
                                          dim_feedforward=ff, dropout=dropout)
        self.generator = nn.Linear(emb, tgt_vocab)
        self.src_tok_emb = nn.Embedding(src_vocab, emb)
        self.tgt_tok_emb = nn.Embedding(tgt_vocab, emb)
        self.scale = math.sqrt(emb)
        self.positional_encoding = PositionalEncoding(emb, dropout)

    def forward(self, src, trg, src_mask, tgt_mask, src_pad, tgt_pad, mem_pad):
        src_emb = self.positional_encoding(self.src_tok_emb(src) * self.scale)
        tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg) * self.scale)
        outs = self.transformer(src_emb, tgt_emb, src_mask, tgt_mask, None, src_pad, tgt_pad, mem_pad)
        return self.generator(outs)


def generate_square_subsequent_mask(sz):
    mask = (torch.triu(torch.ones((sz, sz), device=DEVICE)) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float('-inf')).masked_fill(mask == 1, float(0.0))


def create_mask(src, tgt):
    tgt_mask = generate_square_subsequent_mask(tgt.shape[0])
    src_mask = torch.zeros((src.shape[0], src.shape[0]), device=DEVICE).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD_IDX).transpose(0, 1), (tgt == PAD_IDX).transpose(0, 1)


torch.manual_seed(0)
SRC_VOCAB, TGT_VOCAB = 19214, 10837
transformer = Seq2SeqTransformer(3, 3, 512, 8, SRC_VOCAB, TGT_VOCAB)
for p in transformer.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
transformer = transformer.to(DEVICE)
loss_fn = torch.nn.CrossEntropyLoss(ignore_index=PAD_IDX)
optimizer = torch.optim.Adam(transformer.parameters(), lr=0.0001, betas=(0.9, 0.98), eps=1e-9)


def train_epoch(model, optimizer, lengths):
    model.train()
    losses = 0
    for s, t in lengths:
        src = torch.randint(3, SRC_VOCAB, (s, 128)).to(DEVICE)
        tgt = torch.randint(3, TGT_VOCAB, (t, 128)).to(DEVICE)
        tgt_input = tgt[:-1, :]
        masks = create_mask(src, tgt_input)
        logits = model(src, tgt_input, *masks, masks[2])
        optimizer.zero_grad()
        tgt_out = tgt[1:, :]
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        loss.backward()
        optimizer.step()
        losses += loss.item()
    return losses / len(lengths)


for epoch in range(1, 3):
    print(f"Epoch: {epoch}, Train loss: {train_epoch(transformer, optimizer, [(27, 24), (31, 33), (22, 20)]):.3f}")
print(torch.cuda.max_memory_reserved() / 2**20, "MiB")
