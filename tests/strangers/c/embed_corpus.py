"""Encode a passage collection into dense vectors (mean pooling), longest first."""
import argparse
import numpy as np
import torch
import torch.nn.functional as F
from tqdm import trange
from transformers import XLMRobertaConfig, XLMRobertaModel


class Encoder:
    def __init__(self, fp16=True):
        conf = XLMRobertaConfig(vocab_size=250002, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                                intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1)
        self.model = XLMRobertaModel(conf, add_pooling_layer=False)
        if fp16:
            self.model.half()
        self.model.to("cuda").eval()

    def tokenize(self, texts):
        L = max(len(t) for t in texts)
        ids = np.ones((len(texts), L), dtype=np.int64)
        for i, t in enumerate(texts):
            ids[i, :len(t)] = t
        ids = torch.from_numpy(ids)
        return {"input_ids": ids.cuda(), "attention_mask": ids.ne(1).long().cuda()}

    def encode(self, corpus, batch_size=128, normalize=True):
        order = np.argsort([-len(c) for c in corpus])
        embs = []
        with torch.no_grad():
            for s in trange(0, len(corpus), batch_size, mininterval=10):
                batch = self.tokenize([corpus[i] for i in order[s:s + batch_size]])
                h = self.model(**batch).last_hidden_state
                m = batch["attention_mask"].unsqueeze(-1).to(h.dtype)
                e = (h * m).sum(1) / m.sum(1).clamp(min=1e-6)
                embs.append(F.normalize(e, dim=-1) if normalize else e)
        embs = torch.cat(embs).float()
        return embs[torch.from_numpy(np.argsort(order)).cuda()]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=2000)
    a = ap.parse_args()
    rng = np.random.default_rng(1)
    corpus = [rng.integers(4, 250000, size=int(k)) for k in np.clip(rng.lognormal(4.6, 0.7, a.n), 8, 510)]
    enc = Encoder()
    passages = enc.encode(corpus)
    queries = enc.encode(corpus[:200])
    scores, idx = (queries @ passages.t()).topk(100)
    print(scores.shape, idx.cpu().shape)
