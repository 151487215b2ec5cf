import torch, gc
import torch.nn.functional as F
from transformers import BertConfig, BertForMaskedLM
from torch.optim import AdamW


class Distiller:
    def __init__(self, params):
        self.params = params
        t_cfg = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                           output_hidden_states=True)
        s_cfg = BertConfig(hidden_size=768, num_hidden_layers=6, num_attention_heads=12, output_hidden_states=True)
        self.teacher = BertForMaskedLM(t_cfg).to("cuda").half().eval()
        self.student = BertForMaskedLM(s_cfg).to("cuda")
        self.proj = torch.nn.Linear(768, 1024).to("cuda")
        no_decay = ["bias", "LayerNorm.weight"]
        named = list(self.student.named_parameters()) + list(self.proj.named_parameters())
        self.optimizer = AdamW([
            {"params": [p for n, p in named if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
            {"params": [p for n, p in named if any(nd in n for nd in no_decay)], "weight_decay": 0.0}], lr=5e-4)
        self.scaler = torch.cuda.amp.GradScaler()
        self.n_iter = 0
        self.last_log = {}

    def prepare_batch_mlm(self, ids):
        ids = ids.to("cuda")
        labels = ids.clone()
        masked = torch.rand(ids.shape, device="cuda") < 0.15
        labels.masked_fill_(~masked, -100)
        ids = ids.masked_fill(masked, 103)
        attn = torch.ones_like(ids)
        return ids, attn, labels

    def step(self, input_ids, attention_mask, lm_labels):
        with torch.no_grad():
            t = self.teacher(input_ids=input_ids, attention_mask=attention_mask)
        with torch.cuda.amp.autocast():
            s = self.student(input_ids=input_ids, attention_mask=attention_mask)
            T = self.params["temperature"]
            loss_ce = F.kl_div(F.log_softmax(s.logits / T, dim=-1), F.softmax(t.logits / T, dim=-1),
                               reduction="batchmean") * T ** 2
            loss = self.params["alpha_ce"] * loss_ce
            loss_mlm = F.cross_entropy(s.logits.view(-1, s.logits.size(-1)), lm_labels.view(-1))
            loss += self.params["alpha_mlm"] * loss_mlm
            for i in range(6):
                loss += self.params["alpha_mse"] * F.mse_loss(self.proj(s.hidden_states[i + 1]),
                                                              t.hidden_states[4 * (i + 1)])
        self.optimize(loss)
        self.last_log = dict(ce=loss_ce.item(), mlm=loss_mlm.item())

    def optimize(self, loss):
        acc = self.params["gradient_accumulation_steps"]
        self.scaler.scale(loss / acc).backward()
        self.n_iter += 1
        if self.n_iter % acc == 0:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.student.parameters(), 5.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()
            gc.collect()

    def train(self):
        self.student.train()
        for _ in range(self.params["n_batches"]):
            batch = self.prepare_batch_mlm(torch.randint(1000, 30000, (self.params["bs"], self.params["len"])))
            self.step(*batch)
            print(self.n_iter, self.last_log)


Distiller(dict(temperature=2.0, alpha_ce=5.0, alpha_mlm=2.0, alpha_mse=1.0, gradient_accumulation_steps=3,
               n_batches=9, bs=20, len=256)).train()
