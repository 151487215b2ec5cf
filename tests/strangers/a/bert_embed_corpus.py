# embed a corpus for retrieval; the embeddings stay on the GPU, then brute-force search
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertModel

device = torch.device('cuda')
encoder = BertModel(BertConfig(hidden_size=768, num_hidden_layers=12), add_pooling_layer=False).to(device).eval()

g = torch.Generator().manual_seed(0)
lengths = sorted(torch.randint(16, 385, (1500,), generator=g).tolist(), reverse=True)   # longest first


def batches(ls, bs):
    for i in range(0, len(ls), bs):
        chunk = ls[i:i + bs]
        L = max(chunk)
        ids = torch.randint(1000, 30000, (len(chunk), L), generator=g)
        mask = torch.arange(L)[None] < torch.tensor(chunk)[:, None]
        yield ids, mask.long()


def mean_pool(h, mask):
    m = mask.unsqueeze(-1).expand(h.size()).float()
    return torch.sum(h * m, 1) / torch.clamp(m.sum(1), min=1e-9)


all_emb, all_tok = [], []
with torch.no_grad():
    for n, (ids, mask) in enumerate(batches(lengths, 100)):
        ids, mask = ids.to(device), mask.to(device)
        h = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        all_emb.append(F.normalize(mean_pool(h, mask), dim=-1))
        all_tok.append(h.half())          # late-interaction variant keeps token vectors too
        print(n, ids.shape, torch.cuda.memory_allocated() >> 20)

    corpus = torch.cat(all_emb)
    queries = F.normalize(torch.randn(256, 768, device=device), dim=-1)
    scores = queries @ corpus.T
    best = scores.topk(10, dim=1).indices
    # token-level maxsim against the first block only
    q_tok = torch.randn(32, 768, device=device, dtype=torch.half)
    sim = torch.einsum('qd,bld->bql', q_tok, all_tok[0]).amax(-1).sum(-1)
print(best.shape, sim.shape, 'peak', torch.cuda.max_memory_reserved() >> 20, 'MiB')
