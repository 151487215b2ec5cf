"""A loop with accelerate."""

import tasks
import torch
from accelerate import Accelerator
from bench import declare, done, make_optimizer, options, step
from torch.utils.data import DataLoader, TensorDataset

task = tasks.make(options)
task.set_checkpoints(options.checkpoint)
accelerator = Accelerator(
    mixed_precision="bf16" if options.autocast else "no", gradient_accumulation_steps=options.accumulate
)
model = task.model.to(torch.bfloat16) if options.bf16 else task.model
optimizer = make_optimizer(model.parameters(), options.optimizer)
data = TensorDataset(*task.batch(options.batch * options.accumulate))
loader = DataLoader(data, batch_size=options.batch)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)


def training_loss(batch):
    if options.bf16:
        batch = [t.to(torch.bfloat16) if t.is_floating_point() else t for t in batch]
    return task.loss(model, batch)


for epoch in range(options.steps):
    step(epoch)
    model.train()
    for batch in loader:
        with accelerator.accumulate(model):
            loss = training_loss(batch)
            accelerator.backward(loss)
            if options.clip and accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), options.clip)
            optimizer.step()
            optimizer.zero_grad()

declare(model=model, blocks=task.blocks, attention=task.attention)
done()
