"""Soft prompt tuning: only a handful of virtual token embeddings are learned."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel


class SoftPrompt(nn.Module):
    def __init__(self, lm: GPT2LMHeadModel, n_tokens: int = 40):
        super().__init__()
        self.lm = lm
        for p in self.lm.parameters():
            p.requires_grad = False
        d = lm.config.n_embd
        self.prompt = nn.Parameter(lm.transformer.wte.weight[:n_tokens].detach().clone())
        # reparametrisation MLP as in prefix tuning
        self.reparam = nn.Sequential(nn.Linear(d, d // 2), nn.Tanh(), nn.Linear(d // 2, d))

    def forward(self, input_ids, attention_mask, labels):
        emb = self.lm.transformer.wte(input_ids)
        B = emb.size(0)
        soft = self.reparam(self.prompt).unsqueeze(0).expand(B, -1, -1)
        emb = torch.cat([soft, emb], 1)
        n = soft.size(1)
        attention_mask = torch.cat([attention_mask.new_ones(B, n), attention_mask], 1)
        labels = torch.cat([labels.new_full((B, n), -100), labels], 1)
        return self.lm(inputs_embeds=emb, attention_mask=attention_mask, labels=labels)


class Reviews(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(5)
        self.rows = [torch.randint(0, 50257, (int(torch.randint(60, 400, (1,), generator=g)),), generator=g) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def pad(batch, to=None):
    L = max(map(len, batch))
    ids = torch.full((len(batch), L), 50256)
    mask = torch.zeros(len(batch), L, dtype=torch.long)
    for i, r in enumerate(batch):
        ids[i, :len(r)] = r
        mask[i, :len(r)] = 1
    return ids, mask, ids.masked_fill(mask == 0, -100)


if __name__ == "__main__":
    with torch.device("cuda"):
        lm = GPT2LMHeadModel(GPT2Config(n_embd=1280, n_layer=36, n_head=20))
    model = SoftPrompt(lm).to("cuda", torch.bfloat16)
    opt = torch.optim.Adagrad([p for p in model.parameters() if p.requires_grad], lr=0.3)
    model.train()
    model.lm.eval()
    for step, (ids, mask, labels) in enumerate(DataLoader(Reviews(8 * 4), batch_size=8, collate_fn=pad)):
        loss = model(ids.cuda(), mask.cuda(), labels.cuda())[0]
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(step, ids.shape, loss.item())
    print("peak reserved", torch.cuda.max_memory_reserved() >> 20)
