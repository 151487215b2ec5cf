"""Translation with nn.Transformer, an encoder and a decoder of PyTorch's own layers."""

import torch
from bench import autocast, checkpointed, declare, done, make_optimizer, options, precision, step
from torch import nn


class Seq2SeqTransformer(nn.Module):
    def __init__(self, layers=3, emb_size=512, nhead=8, vocab=20000):
        super().__init__()
        self.transformer = nn.Transformer(emb_size, nhead, layers, layers, 512, 0.1, batch_first=True)
        self.generator = nn.Linear(emb_size, vocab)
        self.src_tok_emb = nn.Embedding(vocab, emb_size)
        self.tgt_tok_emb = nn.Embedding(vocab, emb_size)

    def forward(self, src, tgt, tgt_mask):
        outs = self.transformer(
            self.src_tok_emb(src), self.tgt_tok_emb(tgt), tgt_mask=tgt_mask, tgt_is_causal=True
        )
        return self.generator(outs)


def train_epoch(model, optimizer, loss_fn):
    model.train()
    losses = 0
    for i in range(options.steps):
        step(i)
        for _ in range(options.accumulate):
            src = torch.randint(20000, (options.batch, 128)).to("cuda")
            tgt = torch.randint(20000, (options.batch, 129)).to("cuda")
            mask = nn.Transformer.generate_square_subsequent_mask(
                128, device="cuda", dtype=precision(options)
            )
            with autocast(options):
                logits = model(src, tgt[:, :-1], mask)
                loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt[:, 1:].reshape(-1))
            if options.zero == "before_backward" and not _:
                optimizer.zero_grad()
            loss.backward()
        optimizer.step()
        if options.zero == "after":
            optimizer.zero_grad()
        losses += loss.item()
    return losses


model = Seq2SeqTransformer()
blocks = [*model.transformer.encoder.layers, *model.transformer.decoder.layers]
checkpointed(blocks, options.checkpoint)
model = model.to("cuda", precision(options))
train_epoch(model, make_optimizer(model.parameters(), options.optimizer), nn.CrossEntropyLoss(ignore_index=1))
declare(model=model, blocks=blocks, attention="fused")
done()
