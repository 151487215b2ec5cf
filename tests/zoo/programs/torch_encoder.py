"""nn.TransformerEncoder from PyTorch, as in its tutorial of language models."""

import math

import torch
from bench import autocast, checkpointed, declare, done, make_optimizer, options, precision, step
from torch import nn

VOCABULARY, BPTT = 28782, 256


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return self.dropout(x + self.pe[: x.size(0)])


class TransformerModel(nn.Module):
    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers):
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model)
        layers = nn.TransformerEncoderLayer(d_model, nhead, d_hid, 0.1)
        self.transformer_encoder = nn.TransformerEncoder(layers, nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)

    def forward(self, src, src_mask):
        src = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        return self.linear(self.transformer_encoder(src, src_mask))


device = torch.device("cuda")
model = TransformerModel(VOCABULARY, 512, 8, 2048, 6)
checkpointed(model.transformer_encoder.layers, options.checkpoint)
model = model.to(device, precision(options))
criterion = nn.CrossEntropyLoss()
optimizer = make_optimizer(model.parameters(), options.optimizer)


def train(src_mask):
    model.train()
    for batch in range(options.steps):
        step(batch)
        optimizer.zero_grad()
        for _ in range(options.accumulate):
            data = torch.randint(0, VOCABULARY, (BPTT, options.batch)).to(device)
            targets = torch.randint(0, VOCABULARY, (BPTT * options.batch,)).to(device)
            with autocast(options):
                output = model(data, src_mask)
                loss = criterion(output.view(-1, VOCABULARY), targets)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


train(nn.Transformer.generate_square_subsequent_mask(BPTT).to(device, precision(options)))
declare(model=model, blocks=model.transformer_encoder.layers, attention="fused")
done()
