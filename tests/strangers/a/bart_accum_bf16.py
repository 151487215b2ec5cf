"""Seq2seq paraphraser: BART from scratch; accumulation, label smoothing, clipping, Noam-ish lr."""
import torch
import torch.nn.functional as F
from transformers import BartConfig, BartModel


class Seq2Seq(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.bart = BartModel(cfg)
        self.out = torch.nn.Linear(cfg.d_model, cfg.vocab_size)

    def forward(self, src, src_mask, tgt_in):
        h = self.bart(input_ids=src, attention_mask=src_mask, decoder_input_ids=tgt_in, use_cache=False)
        return self.out(h.last_hidden_state)


class Runner:
    accum = 3

    def __init__(self):
        cfg = BartConfig(vocab_size=30000, d_model=768, encoder_layers=6, decoder_layers=6,
                         encoder_attention_heads=12, decoder_attention_heads=12,
                         encoder_ffn_dim=3072, decoder_ffn_dim=3072)
        self.V = cfg.vocab_size
        self.net = Seq2Seq(cfg).cuda()
        self.opt = torch.optim.NAdam(self.net.parameters(), lr=1e-4)
        self.lr = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: min((s + 1) ** -0.5, (s + 1) * 0.1))

    def micro(self, b, s, t):
        src = torch.randint(4, self.V, (b, s), device="cuda")
        mask = torch.ones_like(src)
        tgt = torch.randint(4, self.V, (b, t + 1), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = self.net(src, mask, tgt[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), tgt[:, 1:].flatten(), label_smoothing=0.1)
        (loss / self.accum).backward()
        return loss.detach()

    def train(self, n):
        self.net.train()
        for step in range(n):
            tot = torch.zeros((), device="cuda")
            for j in range(self.accum):
                tot += self.micro(16, 256 - 32 * j, 192 - 16 * j)
            torch.nn.utils.clip_grad_value_(self.net.parameters(), 0.5)
            self.opt.step()
            self.opt.zero_grad()
            self.lr.step()
            print("step", step, "loss", (tot / self.accum).item())


r = Runner()
r.train(4)
print("peak reserved", torch.cuda.max_memory_reserved())
