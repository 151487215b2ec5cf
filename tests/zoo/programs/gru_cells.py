"""An encoder and a decoder of GRU cells with attention, step after step of time."""

import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, vocab, size):
        super().__init__()
        self.embedding = nn.Embedding(vocab, size)
        self.cell = nn.GRUCell(size, size)

    def forward(self, source):
        h = torch.zeros(
            source.size(0), self.cell.hidden_size, device=source.device, dtype=self.cell.weight_hh.dtype
        )
        outputs = []
        for token in self.embedding(source).unbind(1):
            h = self.cell(token, h)
            outputs.append(h)
        return torch.stack(outputs, 1), h


class AttnDecoder(nn.Module):
    def __init__(self, vocab, size):
        super().__init__()
        self.embedding = nn.Embedding(vocab, size)
        self.cell = nn.GRUCell(2 * size, size)
        self.out = nn.Linear(size, vocab)

    def forward(self, target, memory, h):
        logits = []
        for token in self.embedding(target).unbind(1):
            weights = F.softmax(torch.bmm(memory, h.unsqueeze(2)), dim=1)
            context = (weights * memory).sum(1)
            h = self.cell(torch.cat((token, context), 1), h)
            logits.append(self.out(h))
        return torch.stack(logits, 1)


encoder, decoder = Encoder(8000, 512).cuda(), AttnDecoder(8000, 512).cuda()
encoder, decoder = encoder.to(precision(options)), decoder.to(precision(options))
optimizers = [make_optimizer(m.parameters(), options.optimizer) for m in (encoder, decoder)]

for i in range(options.steps):
    step(i)
    for _ in range(options.accumulate):
        source = torch.randint(8000, (options.batch, 20)).cuda()
        target = torch.randint(8000, (options.batch, 20)).cuda()
        with autocast(options):
            memory, h = encoder(source)
            logits = decoder(target, memory, h)
            loss = F.nll_loss(F.log_softmax(logits, -1).flatten(0, 1), target.flatten())
        loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(model=nn.ModuleList([encoder, decoder]), attention="")
done()
