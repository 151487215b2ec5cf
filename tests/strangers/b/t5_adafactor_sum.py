import logging
import torch
from torch.utils.data import DataLoader
from transformers import T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor

log = logging.getLogger(__name__)
logging.basicConfig(level="INFO")


class SummarizationTrainer:
    def __init__(self, source_len=512, target_len=128, batch_size=8, accumulate=2):
        self.device = "cuda"
        self.batch_size, self.accumulate = batch_size, accumulate
        config = T5Config(vocab_size=32128, d_model=768, d_kv=64, d_ff=2048, num_layers=12, num_heads=12,
                          feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0)
        self.model = T5ForConditionalGeneration(config).to(self.device)
        self.optimizer = Adafactor(self.model.parameters(), lr=1e-3, scale_parameter=False, relative_step=False,
                                   clip_threshold=1.0, warmup_init=False)
        self.data = [
            (torch.randint(1, 32000, (source_len,)), torch.randint(1, 32000, (target_len,)))
            for _ in range(batch_size * accumulate * 3)
        ]

    def step(self, src, tgt):
        src, tgt = src.to(self.device), tgt.to(self.device)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = self.model(input_ids=src, attention_mask=torch.ones_like(src), labels=tgt)
        return out.loss

    def fit(self):
        self.model.train()
        dl = DataLoader(self.data, batch_size=self.batch_size)
        running = 0.0
        for i, (src, tgt) in enumerate(dl, 1):
            loss = self.step(src, tgt) / self.accumulate
            loss.backward()
            running += loss.item()
            if i % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
                log.info("update %d loss %.3f", i // self.accumulate, running)
                running = 0.0


SummarizationTrainer().fit()
