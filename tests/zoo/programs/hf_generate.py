"""Text from a model of transformers, token after token, with its cache."""

import tasks
from bench import declare, done, options, precision, step

task = tasks.make(options)
model = task.model.to("cuda", precision(options)).eval()

NEW = options.size.get("new", 24)


class Enough(Exception):
    """Enough tokens were made: whether a sequence has ended is only known where kernels run."""


class Counter:
    """Counts tokens as they come, and ends it."""

    def __init__(self):
        self.left = NEW

    def put(self, tokens):
        self.left -= 1
        if not self.left:
            raise Enough

    def end(self):
        pass


for i in range(2):
    step(i)
    (prompt,) = task.batch(options.batch)
    try:
        model.generate(prompt.cuda(), max_new_tokens=NEW, do_sample=False, pad_token_id=0, streamer=Counter())
    except Enough:
        print("generated")

declare(model=model, blocks=task.blocks, attention=task.attention)
done()
