"""The plainest loop: everything at the level of the module."""

import tasks
import torch
from bench import autocast, declare, done, make_optimizer, options, precision, step

task = tasks.make(options)
task.set_checkpoints(options.checkpoint)
model = task.model.to("cuda", precision(options))
optimizer = make_optimizer(model.parameters(), options.optimizer)
model.train()

for i in range(options.steps):
    step(i)
    for micro in range(options.accumulate):
        batch = [
            t.cuda() if t.dtype == torch.long else t.to("cuda", precision(options))
            for t in task.batch(options.batch)
        ]
        with autocast(options):
            loss = task.loss(model, batch) / options.accumulate
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=options.zero != "fill")

declare(model=model, blocks=task.blocks, attention=task.attention)
done()
