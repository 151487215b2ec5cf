import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.5):
        super().__init__()
        self.ntoken, self.nhid, self.nlayers = ntoken, nhid, nlayers
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output).view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].view(-1)


ap = argparse.ArgumentParser()
ap.add_argument('--emsize', type=int, default=650)
ap.add_argument('--nhid', type=int, default=650)
ap.add_argument('--nlayers', type=int, default=2)
ap.add_argument('--lr', type=float, default=20)
ap.add_argument('--clip', type=float, default=0.25)
ap.add_argument('--batch_size', type=int, default=64)
ap.add_argument('--bptt', type=int, default=70)
args = ap.parse_args()

torch.backends.cudnn.enabled = False      # avoid cudnn's non-contiguous weight complaints
device = torch.device('cuda')
corpus = torch.randint(0, 33278, (70 * 4 + 31, args.batch_size)).to(device)
model = RNNModel(33278, args.emsize, args.nhid, args.nlayers).to(device)
criterion = nn.NLLLoss()

model.train()
total_loss = 0.
hidden = model.init_hidden(args.batch_size)
for batch, i in enumerate(range(0, corpus.size(0) - 1, args.bptt)):
    data, targets = get_batch(corpus, i, args.bptt)
    model.zero_grad()
    hidden = repackage_hidden(hidden)
    output, hidden = model(data, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-args.lr)
    total_loss += loss.item()
    print('| {:3d} batches | loss {:5.2f}'.format(batch, total_loss / (batch + 1)))
print('peak reserved', torch.cuda.max_memory_reserved() >> 20, 'MiB')
