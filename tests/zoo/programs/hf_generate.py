"""Text from a model of transformers, token after token, with its cache."""

import tasks
import torch
from bench import declare, done, options, precision, step

task = tasks.make(options)
model = task.model.to("cuda", precision(options)).eval()

for i in range(2):
    step(i)
    (prompt,) = task.batch(options.batch)
    out = model.generate(
        prompt.cuda(), max_new_tokens=options.size.get("new", 24), min_new_tokens=options.size.get("new", 24),
        do_sample=False, pad_token_id=0, eos_token_id=None,
    )  # fmt: skip
    texts = out.tolist()
    del out

with torch.no_grad():
    declare(model=model, blocks=task.blocks, attention=task.attention)
done()
