import torch
from torch import nn
from transformers import XLMRobertaConfig, XLMRobertaModel


class TokenTagger(nn.Module):
    """XLM-R large for NER: embeddings + first 20 layers frozen, last 4 layers and head trained."""

    def __init__(self, num_tags=9, n_train_layers=4):
        super().__init__()
        cfg = XLMRobertaConfig(vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                               intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1)
        self.encoder = XLMRobertaModel(cfg, add_pooling_layer=False)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(cfg.hidden_size, num_tags)
        for p in self.encoder.embeddings.parameters():
            p.requires_grad = False
        for layer in self.encoder.encoder.layer[:-n_train_layers]:
            for p in layer.parameters():
                p.requires_grad = False

    def forward(self, ids, mask, tags=None):
        h = self.encoder(ids, attention_mask=mask).last_hidden_state
        logits = self.classifier(self.dropout(h))
        if tags is None:
            return logits
        return nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), tags.view(-1), ignore_index=-100)


def get_fake_conll(n_batches, bs, length):
    for _ in range(n_batches):
        ids = torch.randint(4, 250002, (bs, length))
        yield ids, torch.ones_like(ids), torch.randint(0, 9, (bs, length))


def run():
    device = "cuda"
    with torch.device(device):
        model = TokenTagger()
    head = list(model.classifier.parameters())
    body = [p for n, p in model.named_parameters() if p.requires_grad and not n.startswith("classifier")]
    optimizer = torch.optim.Adam([{"params": body, "lr": 1e-5}, {"params": head, "lr": 1e-3}])
    for epoch in range(1):
        model.train()
        for i, (ids, mask, tags) in enumerate(get_fake_conll(4, 32, 256)):
            ids, mask, tags = ids.to(device), mask.to(device), tags.to(device)
            optimizer.zero_grad()
            loss = model(ids, mask, tags)
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            optimizer.step()
            print(epoch, i, loss.item())


run()
