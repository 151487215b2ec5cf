# Supervised fine-tuning with the HF Trainer
import random
from dataclasses import dataclass, field

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

IGNORE_INDEX = -100


@dataclass
class ModelArguments:
    hidden_size: int = 1280
    n_layers: int = 18
    vocab: int = 32000


@dataclass
class DataArguments:
    n_examples: int = 64
    model_max_length: int = 1536


class SupervisedDataset(Dataset):
    def __init__(self, args: DataArguments, vocab: int):
        rng = random.Random(7)
        self.input_ids, self.labels = [], []
        for _ in range(args.n_examples):
            n = rng.randint(args.model_max_length // 3, args.model_max_length)
            src = rng.randint(20, n // 2)
            ids = torch.tensor([rng.randrange(3, vocab) for _ in range(n)])
            lab = ids.clone()
            lab[:src] = IGNORE_INDEX
            self.input_ids.append(ids)
            self.labels.append(lab)

    def __len__(self):
        return len(self.input_ids)

    def __getitem__(self, i):
        return dict(input_ids=self.input_ids[i], labels=self.labels[i])


@dataclass
class DataCollatorForSupervisedDataset:
    pad_token_id: int = 0

    def __call__(self, instances):
        input_ids, labels = tuple([inst[k] for inst in instances] for k in ("input_ids", "labels"))
        input_ids = torch.nn.utils.rnn.pad_sequence(input_ids, batch_first=True, padding_value=self.pad_token_id)
        labels = torch.nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=IGNORE_INDEX)
        return dict(input_ids=input_ids, labels=labels, attention_mask=input_ids.ne(self.pad_token_id))


def train():
    margs, dargs = ModelArguments(), DataArguments()
    set_seed(0)
    config = LlamaConfig(hidden_size=margs.hidden_size, intermediate_size=3456, num_hidden_layers=margs.n_layers,
                         num_attention_heads=20, num_key_value_heads=4, vocab_size=margs.vocab,
                         max_position_embeddings=4096, use_cache=False)
    model = LlamaForCausalLM(config)
    training_args = TrainingArguments(
        output_dir="sft_out", max_steps=3, per_device_train_batch_size=6,
        gradient_accumulation_steps=2, gradient_checkpointing=True, bf16=True, learning_rate=2e-5,
        weight_decay=0., warmup_steps=1, lr_scheduler_type="cosine", logging_steps=1, save_strategy="no",
        report_to=[], optim="adamw_torch", dataloader_num_workers=0,
    )
    trainer = Trainer(model=model, args=training_args, train_dataset=SupervisedDataset(dargs, margs.vocab),
                      data_collator=DataCollatorForSupervisedDataset())
    trainer.train()


if __name__ == "__main__":
    train()
