# Extract speech features for a corpus and keep them on the GPU for k-means later.
import random
import torch
import torch.nn.functional as F
from transformers import Wav2Vec2Config, Wav2Vec2Model

random.seed(11)
cfg = Wav2Vec2Config(hidden_size=1024, num_hidden_layers=18, num_attention_heads=16, intermediate_size=4096,
                     feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True)
model = Wav2Vec2Model(cfg).to("cuda").eval()

LAYER = 12
bank = []
lengths = sorted((random.uniform(4.0, 16.0) for _ in range(96)), reverse=False)

with torch.inference_mode():
    for b in range(0, len(lengths), 12):
        chunk = lengths[b:b + 12]
        n = int(max(chunk) * 16000)
        wav = torch.zeros(len(chunk), n).to("cuda")
        wav = F.layer_norm(wav, wav.shape[-1:])
        hs = model(wav, output_hidden_states=True).hidden_states
        feats = hs[LAYER]
        for f, sec in zip(feats, chunk):
            bank.append(f[: int(sec * 49)].clone())
        pooled = torch.stack(hs, 0).mean(2)
        print(b, tuple(feats.shape), tuple(pooled.shape))

bank = torch.cat(bank)
print("bank", tuple(bank.shape))
# a few k-means iterations on what was kept
centroids = bank[torch.randperm(len(bank), device="cuda")[:500]]
for _ in range(5):
    d = torch.cdist(bank, centroids)
    assign = d.argmin(1)
    sums = torch.zeros_like(centroids).index_add_(0, assign, bank)
    count = torch.zeros(500, device="cuda").index_add_(0, assign, torch.ones(len(bank), device="cuda"))
    centroids = sums / count.clamp(min=1).unsqueeze(1)
