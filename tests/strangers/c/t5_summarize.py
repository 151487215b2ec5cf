import argparse
import logging
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import T5Config, T5ForConditionalGeneration
from transformers.optimization import Adafactor, AdafactorSchedule

logging.basicConfig(level=logging.INFO)
log = logging.getLogger("t5")


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--source_len", type=int, default=512)
    ap.add_argument("--target_len", type=int, default=150)
    ap.add_argument("--train_batch_size", type=int, default=8)
    ap.add_argument("--steps", type=int, default=3)
    return ap.parse_args()


class Summarizer:
    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        cfg = T5Config(d_model=1024, d_kv=64, d_ff=2816, num_layers=20, num_decoder_layers=16, num_heads=16,
                       vocab_size=32128, feed_forward_proj="gated-gelu", tie_word_embeddings=False,
                       decoder_start_token_id=0)
        self.model = T5ForConditionalGeneration(cfg).to(self.device)
        self.optimizer = Adafactor(self.model.parameters(), scale_parameter=True, relative_step=True, warmup_init=True,
                                   lr=None)
        self.sched = AdafactorSchedule(self.optimizer)

    def loader(self):
        a = self.args
        n = a.train_batch_size * a.steps
        src = torch.randint(1, 32128, (n, a.source_len))
        tgt = torch.randint(1, 32128, (n, a.target_len))
        tgt[:, -20:] = 0
        return DataLoader(TensorDataset(src, torch.ones_like(src), tgt), batch_size=a.train_batch_size, shuffle=True)

    def train_epoch(self, epoch):
        self.model.train()
        for step, data in enumerate(self.loader()):
            ids = data[0].to(self.device, dtype=torch.long)
            mask = data[1].to(self.device, dtype=torch.long)
            y = data[2].to(self.device, dtype=torch.long)
            y_ids = y[:, :-1].contiguous()
            lm_labels = y[:, 1:].clone().detach()
            lm_labels[y[:, 1:] == 0] = -100
            outputs = self.model(input_ids=ids, attention_mask=mask, decoder_input_ids=y_ids, labels=lm_labels)
            loss = outputs[0]
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.sched.step()
            log.info("epoch %d step %d loss %s", epoch, step, loss.item())


if __name__ == "__main__":
    s = Summarizer(parse())
    s.train_epoch(0)
