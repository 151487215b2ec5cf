"""The Trainer of transformers."""

import tasks
import torch
from bench import declare, done, options
from transformers import Trainer, TrainingArguments

OPTIMIZERS = {
    "adamw": "adamw_torch",
    "adamw-fused": "adamw_torch_fused",
    "sgd": "sgd",
    "adafactor": "adafactor",
}


class Tokens(torch.utils.data.Dataset):
    def __init__(self, ids):
        self.ids = ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


task = tasks.make(options)
model = task.model.to(torch.bfloat16) if options.bf16 else task.model
if options.checkpoint not in ("none", "all"):
    task.set_checkpoints(options.checkpoint)
arguments = TrainingArguments(
    output_dir="/tmp/zoo_trainer",
    max_steps=options.steps,
    per_device_train_batch_size=options.batch,
    gradient_accumulation_steps=options.accumulate,
    gradient_checkpointing=options.checkpoint == "all",
    gradient_checkpointing_kwargs={"use_reentrant": False},
    bf16=options.autocast,
    optim=OPTIMIZERS[options.optimizer],
    per_device_eval_batch_size=options.evaluation_batch or options.batch,
    eval_strategy="steps" if options.evaluate else "no",
    eval_steps=2,
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
)
(ids,) = task.batch(options.batch * options.accumulate * options.steps)
evaluation = Tokens(ids[: 2 * options.batch]) if options.evaluate else None
trainer = Trainer(model=model, args=arguments, train_dataset=Tokens(ids), eval_dataset=evaluation)
trainer.train()
declare(model=model, blocks=task.blocks, attention=task.attention)
done()
