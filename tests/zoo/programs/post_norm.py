"""A masked language model with norms after the residual, and nn.MultiheadAttention."""

import torch
from bench import autocast, chosen, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.utils.checkpoint import checkpoint


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, n_head, dropout=0.1, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))
        self.norm_a = nn.LayerNorm(d_model)
        self.norm_b = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        # With the weights of attention, scores are written out.
        y, _ = self.mha(x, x, x, need_weights=options.attention != "sdpa")
        x = self.norm_a(x + self.dropout(y))
        return self.norm_b(x + self.dropout(self.ffn(x)))


class Encoder(nn.Module):
    def __init__(self, vocabulary=30000, d_model=768, n_head=12, n_layers=6, length=384):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.pos = nn.Parameter(torch.zeros(length, d_model))
        self.blocks = nn.ModuleList(EncoderBlock(d_model, n_head) for _ in range(n_layers))
        self.classifier = nn.Linear(d_model, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.pos
        for index, block in enumerate(self.blocks):
            if chosen(options.checkpoint, index):
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.classifier(x)


net = Encoder().to("cuda").to(precision(options))
loss_function = nn.CrossEntropyLoss(ignore_index=-100)
optim = make_optimizer(net.parameters(), options.optimizer)
history = []
for epoch in range(options.steps):
    step(epoch)
    for _ in range(options.accumulate):
        tokens = torch.randint(0, 30000, (options.batch, 384))
        labels = tokens.clone()
        tokens, labels = tokens.to("cuda"), labels.to("cuda")
        with autocast(options):
            out = net(tokens)
            loss = loss_function(out.permute(0, 2, 1), labels)
        if options.zero == "before_backward" and not _:
            optim.zero_grad()
        loss.backward()
    optim.step()
    if options.zero == "after":
        optim.zero_grad()
    history.append(loss.item())

declare(model=net, blocks=net.blocks, attention="fused" if options.attention == "sdpa" else "written")
done()
