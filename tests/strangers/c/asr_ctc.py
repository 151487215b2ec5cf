import numpy as np
import torch
from torch import nn
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

config = Wav2Vec2Config(vocab_size=40, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
                        intermediate_size=4096, feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True,
                        mask_time_prob=0.05, layerdrop=0.0, ctc_loss_reduction="mean", ctc_zero_infinity=True,
                        pad_token_id=39)


class CharCorpus:
    """utterances of 3 to 14 s, bucketed by length"""

    def __init__(self, n, bs, seed=3):
        rng = np.random.default_rng(seed)
        lens = np.sort(rng.integers(3 * 16000, 14 * 16000, size=n))
        order = rng.permutation(n // bs)
        self.batches = [(lens[k * bs:(k + 1) * bs], rng) for k in order]

    def __iter__(self):
        for lens, rng in self.batches:
            L = int(lens.max())
            x = torch.zeros(len(lens), L)
            m = torch.zeros(len(lens), L, dtype=torch.long)
            for i, l in enumerate(lens):
                x[i, :l] = torch.from_numpy(rng.standard_normal(l).astype(np.float32))
                m[i, :l] = 1
            y = torch.full((len(lens), 120), -100)
            for i, l in enumerate(lens):
                k = min(120, l // 2400)
                y[i, :k] = torch.randint(0, 38, (k,))
            yield x, m, y


def train_step(model, batch, optimizer, scaler):
    x, m, y = (t.cuda(non_blocking=True) for t in batch)
    with torch.amp.autocast("cuda", dtype=torch.float16):
        out = model(x, attention_mask=m, labels=y)
    scaler.scale(out.loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return out.loss.detach()


def run():
    model = Wav2Vec2ForCTC(config)
    model.freeze_feature_encoder()
    model.cuda().train()
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-5, betas=(0.9, 0.98))
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0 ** 14)
    history = []
    for i, batch in enumerate(CharCorpus(48, 12)):
        history.append(train_step(model, batch, optimizer, scaler))
    print(torch.stack(history).mean().cpu())


run()
