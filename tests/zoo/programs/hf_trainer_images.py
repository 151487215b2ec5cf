"""The Trainer of transformers, with images."""

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


class Images(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i].to(torch.bfloat16) if options.bf16 else self.images[i]
        return {"pixel_values": image, "labels": self.labels[i]}


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
    save_strategy="no",
    report_to=[],
    disable_tqdm=True,
)
images = Images(*task.batch(options.batch * options.accumulate * options.steps))
trainer = Trainer(model=model, args=arguments, train_dataset=images)
trainer.train()
declare(model=model, blocks=task.blocks, attention=task.attention)
done()
