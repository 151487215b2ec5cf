"""Forward alone: batch after batch, without gradients."""

import tasks
import torch
from bench import autocast, declare, done, options, precision, step

task = tasks.make(options)
model = task.model.to("cuda", precision(options)).eval()
results = []

with torch.inference_mode():
    for i in range(options.steps + 1):
        step(i)
        batch = [
            t.to("cuda", precision(options)) if t.is_floating_point() else t.cuda()
            for t in task.batch(options.batch)
        ]
        with autocast(options):
            results.append(task.loss(model, batch).cpu())

declare(model=model, blocks=task.blocks, attention=task.attention)
done()
