"""A language model with stacked LSTMs, and the hidden state carried from batch to batch."""

import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step
from torch import nn

torch.backends.cudnn.enabled = False


class RNNModel(nn.Module):
    def __init__(self, ntoken=10000, ninp=650, nhid=650, nlayers=2):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, options.size.get("cell", "LSTM"))(ninp, nhid, nlayers, dropout=0.5)
        self.decoder = nn.Linear(nhid, ntoken)

    def forward(self, x, hidden):
        emb = self.drop(self.encoder(x))
        output, hidden = self.rnn(emb, hidden)
        return self.decoder(self.drop(output)), hidden


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


def zeros(model):
    shape = (2, options.batch, 650)
    weight = next(model.parameters())
    one = weight.new_zeros(*shape)
    return (one, weight.new_zeros(*shape)) if isinstance(model.rnn, nn.LSTM) else one


model = RNNModel().to("cuda", precision(options))
criterion = nn.CrossEntropyLoss()
optimizer = make_optimizer(model.parameters(), options.optimizer)
hidden = zeros(model)
for i in range(options.steps):
    step(i)
    for _ in range(options.accumulate):
        data = torch.randint(10000, (36, options.batch)).to("cuda")
        data, targets = data[:-1], data[1:]
        hidden = repackage_hidden(hidden)
        with autocast(options):
            output, hidden = model(data, hidden)
            loss = criterion(output.view(-1, 10000), targets.reshape(-1))
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, attention="")
done()
